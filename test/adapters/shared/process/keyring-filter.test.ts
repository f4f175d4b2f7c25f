import { expect, test } from "vitest";
import { createKeyringFilter } from "../../../../adapters/shared/process/keyring-filter.ts";

const ALLOWED = 0x7fff_0000;
const NOT_IMPLEMENTED = 0x0005_0000 | 38;

test.each([
  ["x86_64", 0xc000_003e, 248],
  ["x32", 0xc000_003e, 0x4000_0000 + 248],
  ["i386", 0x4000_0003, 286],
  ["aarch64", 0xc000_00b7, 217],
  ["arm", 0x4000_0028, 309],
  ["riscv64", 0xc000_00f3, 217],
  ["loongarch64", 0xc000_0102, 217],
  ["ppc64le", 0xc000_0015, 269],
])("the filter of system calls rejects only add_key, request_key and keyctl on %s", (_name, architecture, first) => {
  const results = [-1, 0, 1, 2, 3].map((offset) => run(createKeyringFilter(), { architecture, number: first + offset }));
  expect(results).toEqual([ALLOWED, NOT_IMPLEMENTED, NOT_IMPLEMENTED, NOT_IMPLEMENTED, ALLOWED]);
  expect([0, 1, 60, 1_000, 0xffff_ffff].map((number) => run(createKeyringFilter(), { architecture, number }))).toEqual(
    Array(5).fill(ALLOWED),
  );
});

test("the filter of system calls rejects every call of an unknown architecture", () => {
  expect(run(createKeyringFilter(), { architecture: 0x8000_0016, number: 1 })).toBe(NOT_IMPLEMENTED);
});

/** Runs a filter as the kernel does, for the operations that this one uses. */
function run(filter: Buffer, call: { architecture: number; number: number }): number {
  let accumulator = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [code, ifTrue, ifFalse, constant] = [
      filter.readUInt16LE(at),
      filter.readUInt8(at + 2),
      filter.readUInt8(at + 3),
      filter.readUInt32LE(at + 4),
    ];
    const jump = (isTrue: boolean): void => {
      at += 8 * (isTrue ? ifTrue : ifFalse);
    };
    if (code === 0x20) accumulator = constant === 0 ? call.number : call.architecture;
    else if (code === 0x54) accumulator = (accumulator & constant) >>> 0;
    else if (code === 0x15) jump(accumulator === constant);
    else if (code === 0x25) jump(accumulator > constant);
    else if (code === 0x35) jump(accumulator >= constant);
    else if (code === 0x06) return constant;
    else throw new Error(`unknown operation ${code}`);
  }
  throw new Error("the filter has no end");
}
