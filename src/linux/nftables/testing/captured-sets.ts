import type { TableFamily } from '../nftables-protocol.ts';

/**
 * The sets of example-sets.ts as nft 1.0.6 created them in a kernel 6.18; user data in hexadecimal.
 */
export const CAPTURED_SETS: Readonly<Record<TableFamily, readonly CapturedSet[]>> = {
  ip: [
    {
      name: 'plain',
      flags: 0x0,
      keyType: 0x7,
      keyLength: 4,
      dataType: 0x0,
      dataLength: 0,
      userdata: [
        '0004020000000314000407000000010c00040c00000001040c000000070a6f6e65206669656c6400',
      ].join(''),
    },
    {
      name: 'pairs',
      flags: 0x0,
      keyType: 0x1c7,
      keyLength: 8,
      dataType: 0x0,
      dataLength: 0,
      userdata: [
        '000400000000033400040d000000012c0014000407000000010c00040c00000001040b0000000114',
        '000407000000010c00040c00000001040c000000070b74776f206669656c647300',
      ].join(''),
    },
    {
      name: 'numbers',
      flags: 0x8,
      keyType: 0x730d,
      keyLength: 12,
      dataType: 0x13,
      dataLength: 4,
      userdata: [
        '000400000000010401000000034400040d000000013c0014000407000000010c00040c0000000104',
        '0c000000010e00040900000001060004100000000214000407000000010c00040b00000001040200',
        '0000040e0004090000000106000403000000060400000000070c746f2061206e756d62657200',
      ].join(''),
    },
    {
      name: 'counted',
      flags: 0x8,
      keyType: 0x1cc344,
      keyLength: 16,
      dataType: 0x1cd,
      dataLength: 8,
      userdata: [
        '000400000000010400000000036000040d00000001580014000407000000010c00040c0000000104',
        '0c000000010e00040900000001060004100000000214000407000000010c00040b00000001040200',
        '0000031a0004170000000112000401000000010402000000020400000000043400040d000000012c',
        '0014000407000000010c00040c00000001040c0000000114000407000000010c00040b0000000104',
        '02000000060400000000070e7769746820636f756e7465727300',
      ].join(''),
    },
    {
      name: 'ranges',
      flags: 0x84,
      keyType: 0x4c7,
      keyLength: 8,
      dataType: 0x0,
      dataLength: 0,
      userdata: [
        '000400000000032e00040d0000000126000e00040900000001060004030000000114000407000000',
        '010c00040c00000001040b000000070f7769746820696e74657276616c7300',
      ].join(''),
    },
    {
      name: 'verdicts',
      flags: 0x8,
      keyType: 0x13,
      keyLength: 4,
      dataType: 0xffffff00,
      dataLength: 16,
      userdata: [
        '000401000000010400000000030e0004090000000106000403000000040800040100000001000604',
        '00000000070b746f206120636861696e00',
      ].join(''),
    },
    {
      name: 'packets',
      flags: 0x38,
      keyType: 0x4c7,
      keyLength: 8,
      dataType: 0x13,
      dataLength: 4,
      userdata: [
        '000400000000010401000000032e00040d0000000126000e00040900000001060004030000000114',
        '000407000000010c00040c00000001040b000000040e000409000000010600040300000006040000',
        '000007137772697474656e206279207061636b65747300',
      ].join(''),
    },
  ],
  ip6: [
    {
      name: 'plain',
      flags: 0x0,
      keyType: 0x8,
      keyLength: 16,
      dataType: 0x0,
      dataLength: 0,
      userdata: [
        '0004020000000314000407000000010c00040d000000010409000000070a6f6e65206669656c6400',
      ].join(''),
    },
    {
      name: 'pairs',
      flags: 0x0,
      keyType: 0x208,
      keyLength: 32,
      dataType: 0x0,
      dataLength: 0,
      userdata: [
        '000400000000033400040d000000012c0014000407000000010c00040d0000000104080000000114',
        '000407000000010c00040d000000010409000000070b74776f206669656c647300',
      ].join(''),
    },
    {
      name: 'numbers',
      flags: 0x8,
      keyType: 0x830d,
      keyLength: 24,
      dataType: 0x13,
      dataLength: 4,
      userdata: [
        '000400000000010401000000034400040d000000013c0014000407000000010c00040d0000000104',
        '09000000010e00040900000001060004100000000214000407000000010c00040b00000001040200',
        '0000040e0004090000000106000403000000060400000000070c746f2061206e756d62657200',
      ].join(''),
    },
    {
      name: 'counted',
      flags: 0x8,
      keyType: 0x20c344,
      keyLength: 28,
      dataType: 0x20d,
      dataLength: 20,
      userdata: [
        '000400000000010400000000036000040d00000001580014000407000000010c00040d0000000104',
        '09000000010e00040900000001060004100000000214000407000000010c00040b00000001040200',
        '0000031a0004170000000112000401000000010402000000020400000000043400040d000000012c',
        '0014000407000000010c00040d0000000104090000000114000407000000010c00040b0000000104',
        '02000000060400000000070e7769746820636f756e7465727300',
      ].join(''),
    },
    {
      name: 'ranges',
      flags: 0x84,
      keyType: 0x4c8,
      keyLength: 20,
      dataType: 0x0,
      dataLength: 0,
      userdata: [
        '000400000000032e00040d0000000126000e00040900000001060004030000000114000407000000',
        '010c00040d000000010408000000070f7769746820696e74657276616c7300',
      ].join(''),
    },
    {
      name: 'verdicts',
      flags: 0x8,
      keyType: 0x13,
      keyLength: 4,
      dataType: 0xffffff00,
      dataLength: 16,
      userdata: [
        '000401000000010400000000030e0004090000000106000403000000040800040100000001000604',
        '00000000070b746f206120636861696e00',
      ].join(''),
    },
    {
      name: 'packets',
      flags: 0x38,
      keyType: 0x4c8,
      keyLength: 20,
      dataType: 0x13,
      dataLength: 4,
      userdata: [
        '000400000000010401000000032e00040d0000000126000e00040900000001060004030000000114',
        '000407000000010c00040d000000010408000000040e000409000000010600040300000006040000',
        '000007137772697474656e206279207061636b65747300',
      ].join(''),
    },
  ],
};

interface CapturedSet {
  readonly name: string;
  readonly flags: number;
  readonly keyType: number;
  readonly keyLength: number;
  readonly dataType: number;
  readonly dataLength: number;
  readonly userdata: string;
}
