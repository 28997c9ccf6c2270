/*
 * The smallest proxy at the socket: connect() to the ClusterIP becomes connect() to the pod
 * (-DCLUSTER_IP=…, -DPOD_IP=…, in network byte order). No packet ever has the ClusterIP.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("cgroup/connect4") int to_pod(struct bpf_sock_addr *ctx)
{
    if (ctx->user_ip4 == CLUSTER_IP)
        ctx->user_ip4 = POD_IP;
    return 1;
}

char _license[] SEC("license") = "GPL";
