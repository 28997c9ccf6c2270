// Ends the UDP sockets that are connected to one port; for tests of iterators.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

extern int bpf_sock_destroy(struct sock_common *sk) __ksym;

// In network order, as sockets have it.
const volatile __u16 port = 0;
__u32 seen = 0;
__u32 destroyed = 0;

SEC("iter/udp")
int end_udp(struct bpf_iter__udp *ctx)
{
	struct sock_common *sk = (struct sock_common *)ctx->udp_sk;

	if (!sk)
		return 0;
	seen++;
	if (sk->skc_dport == port && !bpf_sock_destroy(sk))
		destroyed++;
	return 0;
}
