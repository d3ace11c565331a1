// Memory of a program: a write port and a read port, as large as its words need.
//
// Parameters: Width of a word; Words, at least 2; Apart, whether no word is ever read while it is written.
// Timing: with `step_i`, `write_i` writes `write_data_i` at the end of the cycle, and `read_data_o` shows in the next
// cycle the word that was at `read_address_i` before; without, nothing changes. The contents have no reset: a word is
// read only after it was written.
`include "pushmem_assert.svh"

module pushmem_fixed_memory #(
    parameter  int unsigned Width       = 16,
    parameter  int unsigned Words       = 2,
    parameter  bit          Apart       = 1'b0,
    localparam int unsigned AddressBits = $clog2(Words)
) (
    input  logic                   clk_i,
    input  logic                   step_i,
    input  logic                   write_i,
    input  logic [AddressBits-1:0] write_address_i,
    input  logic [Width-1:0]       write_data_i,
    input  logic                   read_i,
    input  logic [AddressBits-1:0] read_address_i,
    output logic [Width-1:0]       read_data_o
);
    logic [Width-1:0] read_q;
    always_comb read_data_o = read_q;

    if (Apart) begin : gen_apart
        // Synthesis need not keep the ports from each other.
        (* no_rw_check *)
        logic [Width-1:0] words [Words];
        always_ff @(posedge clk_i) begin
            if (step_i && write_i) begin
                words[write_address_i] <= write_data_i;
            end
            if (step_i && read_i) begin
                read_q <= words[read_address_i];
            end
        end

        `PUSHMEM_ASSERT(a_apart, (step_i && write_i && read_i) !== 1'b1 || write_address_i != read_address_i,
            ("%m: the word at %0d is read while it is written", read_address_i))
    end else begin : gen_read_first
        logic [Width-1:0] words [Words];
        always_ff @(posedge clk_i) begin
            if (step_i && write_i) begin
                words[write_address_i] <= write_data_i;
            end
            if (step_i && read_i) begin
                read_q <= words[read_address_i];
            end
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Width == 0 || Words < 2) begin : gen_bad_shape
        $error("pushmem_fixed_memory: Width is at least 1, Words at least 2");
    end
endmodule
