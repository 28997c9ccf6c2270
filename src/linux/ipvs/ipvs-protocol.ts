/** Numbers of linux/genetlink.h and linux/ip_vs.h that we use. */

export const NLM_F_REQUEST = 1;
export const NLM_F_ACK = 4;
export const NLM_F_DUMP = 0x300;

export const FAMILY_NAME = 'IPVS';
export const FAMILY_VERSION = 1;

export const CMD_NEW_SERVICE = 1;
export const CMD_SET_SERVICE = 2;
export const CMD_DEL_SERVICE = 3;
export const CMD_GET_SERVICE = 4;
export const CMD_NEW_DEST = 5;
export const CMD_SET_DEST = 6;
export const CMD_DEL_DEST = 7;
export const CMD_GET_DEST = 8;
export const CMD_SET_CONFIG = 12;
export const CMD_GET_CONFIG = 13;

export const ATTR_SERVICE = 1;
export const ATTR_DEST = 2;
export const ATTR_TIMEOUT_TCP = 4;
export const ATTR_TIMEOUT_TCP_FIN = 5;
export const ATTR_TIMEOUT_UDP = 6;

export const SVC_AF = 1;
export const SVC_PROTOCOL = 2;
export const SVC_ADDR = 3;
export const SVC_PORT = 4;
export const SVC_FWMARK = 5;
export const SVC_SCHED_NAME = 6;
export const SVC_FLAGS = 7;
export const SVC_TIMEOUT = 8;
export const SVC_NETMASK = 9;
export const SVC_PE_NAME = 11;

export const DEST_ADDR = 1;
export const DEST_PORT = 2;
export const DEST_FWD_METHOD = 3;
export const DEST_WEIGHT = 4;
export const DEST_U_THRESH = 5;
export const DEST_L_THRESH = 6;
export const DEST_ACTIVE_CONNS = 7;
export const DEST_INACT_CONNS = 8;
export const DEST_PERSIST_CONNS = 9;
export const DEST_ADDR_FAMILY = 11;
export const DEST_STATS64 = 12;

export const STATS_CONNS = 1;
export const STATS_INPKTS = 2;
export const STATS_OUTPKTS = 3;
export const STATS_INBYTES = 4;
export const STATS_OUTBYTES = 5;

export const SVC_F_PERSISTENT = 0x1;
export const SVC_F_ONEPACKET = 0x4;

/** Of IPVS_DEST_ATTR_FWD_METHOD. */
export const FORWARD_MASQUERADE = 0;

export const AF_INET = 2;
export const AF_INET6 = 10;

export const PROTOCOL_NUMBERS = { TCP: 6, UDP: 17, SCTP: 132 } as const;
