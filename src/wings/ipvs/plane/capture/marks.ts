/**
 * One bit in the packet mark, by which the kernel routes a captured packet to this node, and the same
 * bit in the connection mark, by which later packets of the connection are known.
 *
 * Not a bit that the masquerade mark or the return mark of mode userspace has (0x2000, or 0x1000
 * where 0x2000 is the masquerade mark): connections of both modes go on during a switch. Not 0x8000,
 * which kubelet's old rules drop.
 */
const USUAL_MARK = 0x1000;
const OTHER_MARK = 0x800;
const RETURN_MARK = 0x2000;

export function captureMark(masqueradeMark: number): number {
  const isTaken = masqueradeMark === USUAL_MARK || masqueradeMark === RETURN_MARK;
  return isTaken ? OTHER_MARK : USUAL_MARK;
}
