"""The reader of machine code, on small kernels whose counts are done by hand."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/cuda_static"))
import model
import ours
import sass

failed = 0


def check(name, found, want):
    global failed
    if found != want:
        failed += 1
        print(f"{name}: {found}, not {want}")


def listing(lines):
    text = ".text.kernel:\n"
    for at, line in enumerate(line for line in lines):
        text += line + "\n" if line.endswith(":") else f"        /*{16 * at:04x}*/    {line} ;\n"
    return sass.read_kernels(text)["kernel"]


def execute(lines, constants=b"", **special):
    thread = sass.Thread(listing(lines), constants.ljust(0x300, b"\0"), special)
    return thread, thread.execute()


# A loop of five turns: 1 before it, 5 * 3 in it, 1 behind it.
_, run = execute(["MOV R0, RZ", ".L_x_0:", "IADD3 R0, R0, 0x1, RZ", "ISETP.GE.AND P0, PT, R0, 0x5, PT",
                  "@!P0 BRA `(.L_x_0)", "EXIT"])
check("turns", run.executed, 1 + 5 * 3 + 1)

# Two loads are under way when the first is needed; the second then has come too only if it was asked for before.
_, run = execute(["LDG.E.128 R4, desc[UR4][R2.64]", "LDG.E.128 R8, desc[UR4][R2.64+0x10]", "FADD R12, R4, R5",
                  "FADD R12, R12, R8", "EXIT"])
check("waits", run.waits, [32, 16])
check("wide loads", (run.wide, run.most_wide), (2, 2))
_, run = execute(["LDG.E.128 R4, desc[UR4][R2.64]", "LDG.E.128 R8, desc[UR4][R2.64+0x10]", "STG.E.128 desc[UR4][R6.64], R8",
                  "EXIT"])
check("a wait for the later one is for both", run.waits, [32])
check("bytes", run.bytes, {"load": 32, "store": 16})

# A branch on what comes from memory is a guess, and not taken.
_, run = execute(["LDG.E R4, desc[UR4][R2.64]", "ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 BRA `(.L_x_1)", "EXIT", ".L_x_1:",
                  "EXIT"])
check("guesses", (run.executed, run.guesses), (4, 1))

# What is not executed does not write; what may be executed leaves nothing known.
thread, _ = execute(["MOV R0, 0x7", "ISETP.EQ.AND P0, PT, R0, 0x8, PT", "@P0 MOV R0, 0x9", "LDG.E R4, desc[UR4][R2.64]",
                     "ISETP.EQ.AND P1, PT, R4, 0x8, PT", "MOV R1, 0x7", "@P1 MOV R1, 0x9", "EXIT"])
check("guards", (thread.values["R0"], thread.values["R1"]), (7, None))

# Arithmetic, each with its answer by hand.
ANSWERS = [
    (["IADD3 R0, P0, RZ, -0x1, RZ", "IADD3 R1, P0, R0, 0x2, RZ", "IADD3.X R2, RZ, 0x5, RZ, P0, !PT"], {"R1": 1, "R2": 6}),
    (["MOV R0, 0x3", "IMAD.WIDE R2, R0, -0x4, RZ"], {"R2": 0xfffffff4, "R3": 0xffffffff}),
    (["MOV R0, 0x80000000", "IMAD.WIDE.U32 R2, R0, 0x4, RZ"], {"R2": 0, "R3": 2}),
    (["MOV R0, 0x5", "LEA R1, R0, 0x100, 0x2", "LEA.HI R2, R1, R0, RZ, 0x1"], {"R1": 0x114, "R2": 5}),
    (["MOV R0, 0xf0", "SHF.R.U32.HI R1, RZ, 0x4, R0", "SHF.L.U32 R2, R0, 0x1c, RZ", "SHF.R.S32.HI R3, RZ, 0x1f, R2"],
     {"R1": 0xf, "R2": 0, "R3": 0}),
    (["MOV R0, -0x8", "SHF.R.S32.HI R1, RZ, 0x2, R0"], {"R1": 0xfffffffe}),
    (["MOV R0, 0xc", "LOP3.LUT R1, R0, 0xa, RZ, 0xc0, !PT", "LOP3.LUT R2, R0, 0xa, RZ, 0xfc, !PT"], {"R1": 8, "R2": 0xe}),
    (["MOV R0, -0x1", "ISETP.GT.AND P0, PT, R0, RZ, PT", "ISETP.GT.U32.AND P1, PT, R0, RZ, PT", "SEL R1, RZ, 0x1, P0",
      "SEL R2, RZ, 0x1, P1"], {"R1": 1, "R2": 0}),
    (["MOV R0, 0x1", "ISETP.LT.U32.AND P0, PT, R0, RZ, PT", "ISETP.LT.AND.EX P0, PT, RZ, R0, PT, P0", "SEL R1, 0x1, RZ, P0"],
     {"R1": 1}),  # 1 < 2^32
    (["MOV R0, -0x3", "VIMNMX R1, R0, 0x2, PT", "VIMNMX R2, R0, 0x2, !PT", "IABS R3, R0"], {"R1": 0xfffffffd, "R2": 2, "R3": 3}),
    (["MOV R0, 0x11223344", "PRMT R1, R0, 0x3210, RZ", "PRMT R2, R0, 0x123, RZ"], {"R1": 0x11223344, "R2": 0x44332211}),
    (["PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0", "PLOP3.LUT P1, PT, PT, PT, !PT, 0x80, 0x0", "SEL R0, 0x1, RZ, P0",
      "SEL R1, 0x1, RZ, P1"], {"R0": 1, "R1": 0}),
]
for lines, want in ANSWERS:
    thread, _ = execute([*lines, "EXIT"])
    check("; ".join(lines), {name: thread.values.get(name) for name in want}, want)

# A division by way of floats, as the compiler writes it: 1000003 / 37.
thread, _ = execute(["MOV R2, 0x25", "MOV R9, 0xf4243", "I2F.U32.RP R0, R2", "MUFU.RCP R0, R0", "VIADD R4, R0, 0xffffffe",
                     "F2I.FTZ.U32.TRUNC.NTZ R5, R4", "MOV R4, RZ", "IMAD R3, R5, R2, RZ", "IADD3 R3, -R3, RZ, RZ",
                     "IMAD.HI.U32 R5, R5, R3, R4", "IMAD.HI.U32 R5, R5, R9, RZ", "IMAD.MOV R3, RZ, RZ, -R5",
                     "IMAD R3, R2, R3, R9", "ISETP.GE.U32.AND P0, PT, R3, R2, PT", "@P0 IMAD.IADD R3, R3, 0x1, -R2",
                     "@P0 IADD3 R5, R5, 0x1, RZ", "ISETP.GE.U32.AND P1, PT, R3, R2, PT", "@P1 VIADD R5, R5, 0x1", "EXIT"])
check("a division", thread.values["R5"], 1000003 // 37)

# Constants: the arguments and the size of the block.
thread, _ = execute(["LDC R0, c[0x0][RZ]", "LDC.64 R2, c[0x0][0x210]", "S2R R4, SR_TID.X", "EXIT"],
                    (256).to_bytes(4, "little").ljust(0x210, b"\0") + (5 << 32 | 6).to_bytes(8, "little"), **{"SR_TID.X": 96})
check("constants", [thread.values[f"R{i}"] for i in (0, 2, 3, 4)], [256, 6, 5, 96])

# Blocks that a multiprocessor holds, from the occupancy tables.
h100 = model.DEVICES["sm_90"]
check("by threads", model.blocks_resident(h100, 256, 32, 0), 8)
check("by registers", model.blocks_resident(h100, 256, 47, 0), 5)
check("by shared memory", model.blocks_resident(h100, 128, 16, 100 << 10), 2)
check("by blocks", model.blocks_resident(h100, 32, 16, 0), 32)

# More instructions, or fewer bytes under way, never make the prediction better.
def share(executed, rounds, in_flight):
    return model.predict(h100, [model.Measured(4096, 256, 32, 0, executed, 4, rounds, in_flight, 1, 0)], 1 << 27)["share"]


check("instructions cost", share(400, 1, 64) > share(1200, 1, 64) > share(4000, 1, 64), True)
check("waits cost", share(400, 1, 64) > share(400, 16, 16), True)
check("never above what copies reach", share(1, 1, 64) <= model.REACHABLE, True)

check("names of nvcc", ours.short_name("void (anonymous namespace)::f_kernel<true, int, kgen_cuda::BF16>(unsigned short const*, int)"),
      "f_kernel<true,int,BF16>")
check("names of g++", ours.short_name("void (anonymous namespace)::f_kernel<true, int, (anonymous namespace)::kgen_cuda::BF16>(int)"),
      "f_kernel<true,int,BF16>")

print(f"{failed} failed" if failed else "all passed")
sys.exit(1 if failed else 0)
