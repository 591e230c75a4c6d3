//! QPU assembler, disassembler and checker
