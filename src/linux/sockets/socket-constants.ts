/** Numbers of the kernel's interface for sockets, the same on x64 and arm64. */
export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;

export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;
export const SOCK_SEQPACKET = 5;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

export const SOL_IP = 0;
export const SOL_SOCKET = 1;
export const SOL_TCP = 6;
export const SOL_IPV6 = 41;

export const SO_REUSEADDR = 2;
export const SO_ERROR = 4;
export const SO_RCVBUF = 8;
export const SO_KEEPALIVE = 9;
export const SO_OOBINLINE = 10;
export const SO_LINGER = 13;
export const SO_SNDBUFFORCE = 32;
export const SO_RCVBUFFORCE = 33;
export const SO_ORIGINAL_DST = 80;

export const TCP_NODELAY = 1;
export const TCP_KEEPIDLE = 4;
export const TCP_KEEPINTVL = 5;
export const TCP_KEEPCNT = 6;
export const TCP_WINDOW_CLAMP = 10;
export const TCP_NOTSENT_LOWAT = 25;

export const IP_TTL = 2;
export const IP_MULTICAST_TTL = 33;
export const IP_FREEBIND = 15;
export const IP_RECVERR = 11;
export const IP_TRANSPARENT = 19;
export const IPV6_UNICAST_HOPS = 16;
export const IPV6_MULTICAST_HOPS = 18;
export const IPV6_RECVERR = 25;
export const IPV6_V6ONLY = 26;
export const IPV6_TRANSPARENT = 75;
export const IPV6_FREEBIND = 78;

export const EPOLLIN = 0x1;
export const EPOLLPRI = 0x2;
export const EPOLLOUT = 0x4;
export const EPOLLERR = 0x8;
export const EPOLLHUP = 0x10;
export const EPOLLRDHUP = 0x2000;
export const EPOLLEXCLUSIVE = 1 << 28;
export const EPOLLET = 1 << 31;

export const MSG_DONTWAIT = 0x40;
export const MSG_NOSIGNAL = 0x4000;
export const MSG_CTRUNC = 0x8;
export const MSG_TRUNC = 0x20;
export const MSG_CMSG_CLOEXEC = 0x40000000;

export const SHUT_WR = 1;
