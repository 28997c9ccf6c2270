// The same virtual servers as command.ts gives to src/linux/ipvs, in C and with nothing in between:
// what they cost at least. Many messages to a send, an answer to the last one only.
//   writer load SERVERS DESTINATIONS    writer change SERVERS CHANGES
// Prints milliseconds for the load, or microseconds for each change, one to a line.
#include <arpa/inet.h>
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH (192 * 1024)

static unsigned char out[BATCH + 4096], in[64 * 1024];
static size_t used;
static uint32_t sequence;
static uint16_t family = GENL_ID_CTRL;
static struct nlmsghdr *message;
static int fd;

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void begin(uint8_t command, uint16_t flags)
{
	struct genlmsghdr *header;

	message = (struct nlmsghdr *)(out + used);
	memset(message, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	message->nlmsg_type = family;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nlmsg_seq = ++sequence;
	header = NLMSG_DATA(message);
	header->cmd = command;
	header->version = 1;
	used += NLMSG_HDRLEN + GENL_HDRLEN;
}

static void end(void)
{
	message->nlmsg_len = out + used - (unsigned char *)message;
}

static void attribute(uint16_t type, const void *value, size_t size)
{
	struct nlattr *head = (struct nlattr *)(out + used);

	head->nla_type = type;
	head->nla_len = NLA_HDRLEN + size;
	memset(out + used + NLA_HDRLEN, 0, NLA_ALIGN(size));
	memcpy(out + used + NLA_HDRLEN, value, size);
	used += NLA_HDRLEN + NLA_ALIGN(size);
}

static void u16(uint16_t type, uint16_t value)
{
	attribute(type, &value, sizeof value);
}

static void u32(uint16_t type, uint32_t value)
{
	attribute(type, &value, sizeof value);
}

static void address(uint16_t type, uint32_t host_order)
{
	uint32_t bytes[4] = {htonl(host_order)};

	attribute(type, bytes, sizeof bytes);
}

static struct nlattr *nest(uint16_t type)
{
	struct nlattr *head = (struct nlattr *)(out + used);

	head->nla_type = type | NLA_F_NESTED;
	used += NLA_HDRLEN;
	return head;
}

static void unnest(struct nlattr *head)
{
	head->nla_len = out + used - (unsigned char *)head;
}

static void flush(void)
{
	if (used == 0)
		return;
	message->nlmsg_flags |= NLM_F_ACK;
	if (send(fd, out, used, 0) < 0)
		fail("send");
	used = 0;
	for (;;) {
		int length = recv(fd, in, sizeof in, 0);
		struct nlmsghdr *answer = (struct nlmsghdr *)in;

		if (length < 0)
			fail("recv");
		for (; NLMSG_OK(answer, (unsigned)length); answer = NLMSG_NEXT(answer, length)) {
			struct nlmsgerr *error = NLMSG_DATA(answer);

			if (answer->nlmsg_type != NLMSG_ERROR)
				continue;
			if (error->error != 0) {
				fprintf(stderr, "message %u: %s\n", answer->nlmsg_seq, strerror(-error->error));
				exit(1);
			}
			if (answer->nlmsg_seq == sequence)
				return;
		}
	}
}

static void find_family(void)
{
	int length;

	begin(CTRL_CMD_GETFAMILY, 0);
	attribute(CTRL_ATTR_FAMILY_NAME, "IPVS", 5);
	end();
	if (send(fd, out, used, 0) < 0)
		fail("send");
	used = 0;
	length = recv(fd, in, sizeof in, 0);
	for (int at = NLMSG_HDRLEN + GENL_HDRLEN; at + NLA_HDRLEN < length;) {
		struct nlattr *head = (struct nlattr *)(in + at);

		if (((struct nlmsghdr *)in)->nlmsg_type == NLMSG_ERROR || head->nla_len < NLA_HDRLEN)
			break;
		if (head->nla_type == CTRL_ATTR_FAMILY_ID)
			family = *(uint16_t *)(in + at + NLA_HDRLEN);
		at += NLA_ALIGN(head->nla_len);
	}
	if (family == GENL_ID_CTRL) {
		fprintf(stderr, "the kernel has no IPVS\n");
		exit(1);
	}
}

static void key(int server)
{
	u16(IPVS_SVC_ATTR_AF, AF_INET);
	u16(IPVS_SVC_ATTR_PROTOCOL, IPPROTO_TCP);
	address(IPVS_SVC_ATTR_ADDR, 0x0a600000 + server);
	u16(IPVS_SVC_ATTR_PORT, htons(80));
}

static void add_server(int server)
{
	struct ip_vs_flags flags = {0, ~0u};
	struct nlattr *inner;

	begin(IPVS_CMD_NEW_SERVICE, 0);
	inner = nest(IPVS_CMD_ATTR_SERVICE);
	key(server);
	attribute(IPVS_SVC_ATTR_SCHED_NAME, "rr", 3);
	attribute(IPVS_SVC_ATTR_FLAGS, &flags, sizeof flags);
	u32(IPVS_SVC_ATTR_TIMEOUT, 0);
	u32(IPVS_SVC_ATTR_NETMASK, ~0u);
	unnest(inner);
	end();
}

static void write_destination(uint8_t command, int server, int number, uint32_t weight)
{
	struct nlattr *inner;

	begin(command, 0);
	inner = nest(IPVS_CMD_ATTR_SERVICE);
	key(server);
	unnest(inner);
	inner = nest(IPVS_CMD_ATTR_DEST);
	address(IPVS_DEST_ATTR_ADDR, 0x0a800000 + (number << 16) + server);
	u16(IPVS_DEST_ATTR_PORT, htons(8080));
	u16(IPVS_DEST_ATTR_ADDR_FAMILY, AF_INET);
	u32(IPVS_DEST_ATTR_FWD_METHOD, IP_VS_CONN_F_MASQ);
	u32(IPVS_DEST_ATTR_WEIGHT, weight);
	u32(IPVS_DEST_ATTR_U_THRESH, 0);
	u32(IPVS_DEST_ATTR_L_THRESH, 0);
	unnest(inner);
	end();
}

static void load(int servers, int destinations)
{
	double start = now_us();

	for (int server = 0; server < servers; server++) {
		add_server(server);
		for (int number = 0; number < destinations; number++) {
			write_destination(IPVS_CMD_NEW_DEST, server, number, 1);
			if (used > BATCH)
				flush();
		}
	}
	flush();
	printf("%.3f\n", (now_us() - start) / 1e3);
}

static void change(int servers, int changes)
{
	for (int round = 0; round < changes; round++) {
		double start = now_us();

		write_destination(IPVS_CMD_SET_DEST, round * 7919L % servers, 0, 2 + round % 2);
		flush();
		printf("%.1f\n", now_us() - start);
	}
}

int main(int argc, char **argv)
{
	int bytes = 8 << 20;

	if (argc < 4)
		return 2;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0)
		fail("socket");
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
	find_family();
	if (strcmp(argv[1], "load") == 0)
		load(atoi(argv[2]), atoi(argv[3]));
	else
		change(atoi(argv[2]), atoi(argv[3]));
	return 0;
}
