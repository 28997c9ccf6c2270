/*
 * The smallest proxy at the interface: one Service, one pod, both written in at compile time
 * (-DCLUSTER_IP=…, -DPOD_IP=…, in network byte order). Every packet is changed, in both directions.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#define L4_OFFSET (ETH_HLEN + sizeof(struct iphdr))

static __always_inline int replace_address(struct __sk_buff *skb, __u32 offset, __be32 from, __be32 to)
{
    /* The sums change by the difference of the addresses; TCP's covers the address, too. */
    bpf_l4_csum_replace(skb, L4_OFFSET + offsetof(struct tcphdr, check), from, to,
                        BPF_F_PSEUDO_HDR | sizeof(to));
    bpf_l3_csum_replace(skb, ETH_HLEN + offsetof(struct iphdr, check), from, to, sizeof(to));
    bpf_skb_store_bytes(skb, ETH_HLEN + offset, &to, sizeof(to), 0);
    return TC_ACT_OK;
}

static __always_inline struct iphdr *tcp_in_ipv4(struct __sk_buff *skb)
{
    void *data = (void *)(long)skb->data;
    struct iphdr *ip = data + ETH_HLEN;
    if (data + L4_OFFSET > (void *)(long)skb->data_end)
        return NULL;
    return ip->protocol == IPPROTO_TCP ? ip : NULL;
}

SEC("egress") int to_pod(struct __sk_buff *skb)
{
    struct iphdr *ip = tcp_in_ipv4(skb);
    if (!ip || ip->daddr != CLUSTER_IP)
        return TC_ACT_OK;
    return replace_address(skb, offsetof(struct iphdr, daddr), CLUSTER_IP, POD_IP);
}

SEC("ingress") int from_pod(struct __sk_buff *skb)
{
    struct iphdr *ip = tcp_in_ipv4(skb);
    if (!ip || ip->saddr != POD_IP)
        return TC_ACT_OK;
    return replace_address(skb, offsetof(struct iphdr, saddr), POD_IP, CLUSTER_IP);
}

char _license[] SEC("license") = "GPL";
