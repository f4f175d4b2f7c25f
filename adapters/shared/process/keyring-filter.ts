/** Creates the bytes of a seccomp filter that returns ENOSYS for the system calls of kernel keyrings, as a kernel without keyrings does. */
export function createKeyringFilter(): Buffer {
  const program: Instruction[] = [
    [LOAD_WORD, 0, 0, ARCHITECTURE_OFFSET],
    ...CALL_TABLES.flatMap(([architecture, first, ignoredBits = 0]): Instruction[] => [
      // Not this architecture: skip its six instructions.
      [JUMP_IF_EQUAL, 0, 6, architecture],
      [LOAD_WORD, 0, 0, NUMBER_OFFSET],
      [AND, 0, 0, ~ignoredBits >>> 0],
      [JUMP_IF_AT_LEAST, 0, 1, first],
      [JUMP_IF_ABOVE, 0, 1, first + 2],
      [RETURN, 0, 0, ALLOW],
      [RETURN, 0, 0, FAIL_WITH | ENOSYS],
    ]),
    // On an architecture that is not listed, the number could mean any call.
    [RETURN, 0, 0, FAIL_WITH | ENOSYS],
  ];
  return Buffer.concat(program.map(encode));
}

/** Operation, jump if true, jump if false, constant: `struct sock_filter` of linux/filter.h. */
type Instruction = [code: number, ifTrue: number, ifFalse: number, constant: number];

/**
 * For each architecture: AUDIT_ARCH_* of linux/audit.h, and the number of add_key. On each, request_key and keyctl have the next two
 * numbers. All architectures are little-endian. A 64-bit processor also runs programs of its 32-bit predecessor, whose calls have other
 * numbers.
 */
const CALL_TABLES: readonly (readonly [architecture: number, first: number, ignoredBits?: number])[] = [
  // x86_64, where the calls of the x32 convention are marked by a bit, and i386.
  [0xc000_003e, 248, 0x4000_0000],
  [0x4000_0003, 286],
  // aarch64 and arm.
  [0xc000_00b7, 217],
  [0x4000_0028, 309],
  // riscv64, loongarch64 and ppc64le.
  [0xc000_00f3, 217],
  [0xc000_0102, 217],
  [0xc000_0015, 269],
];

// Offsets into `struct seccomp_data` of linux/seccomp.h.
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
// Operations of linux/bpf_common.h; loaded values are compared as unsigned.
const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_ABOVE = 0x25;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;
// Results of linux/seccomp.h.
const ALLOW = 0x7fff_0000;
const FAIL_WITH = 0x0005_0000;
const ENOSYS = 38;

function encode([code, ifTrue, ifFalse, constant]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(constant, 4);
  return bytes;
}
