// Random-access memory: words whose addresses data choose, one write and several reads a cycle.
//
// Parameters: Width of a word; Words; Reads, the number of read ports, each with a memory of its own that holds all
// words.
// Timing: with `step_i`, the words on `element_o` in the next cycle are those at `read_address_i`, with all writes up
// to and including that next cycle; without, nothing changes. `write_i` writes `write_element_i` to
// `write_address_i`. Only the note of the last write has a reset: a word is read only after it was written.
`include "pushmem_assert.svh"

module pushmem_random_access_memory #(
    parameter  int unsigned Width       = 16,
    parameter  int unsigned Words       = 256,
    parameter  int unsigned Reads       = 1,
    localparam int unsigned AddressBits = Words > 1 ? $clog2(Words) : 1,
    localparam int unsigned LargestBits = 16
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic                           step_i,
    input  logic                           write_i,
    input  logic [LargestBits-1:0]         write_address_i,
    input  logic [Width-1:0]               write_element_i,
    input  logic [(Reads*AddressBits)-1:0] read_address_i,
    output logic [(Reads*Width)-1:0]       element_o
);
    logic [AddressBits-1:0] write_address;
    always_comb write_address = write_address_i[AddressBits-1:0];
    if (AddressBits < LargestBits) begin : gen_beyond
        logic [LargestBits-AddressBits-1:0] beyond_unused;
        always_comb beyond_unused = write_address_i[LargestBits-1:AddressBits];
    end

    // The write of the last cycle: a memory that was read in that cycle may show the word before it.
    logic                   recent_q;
    logic [AddressBits-1:0] recent_address_q;
    logic [Width-1:0]       recent_element_q;

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            recent_q <= 1'b0;
        end else if (step_i) begin
            recent_q <= write_i;
        end
    end

    always_ff @(posedge clk_i) begin
        if (step_i && write_i) begin
            recent_address_q <= write_address;
            recent_element_q <= write_element_i;
        end
    end

    for (genvar read = 0; read < Reads; read++) begin : gen_read
        logic [Width-1:0]       words [Words];
        logic [Width-1:0]       word_q;
        logic [AddressBits-1:0] address_q;

        always_ff @(posedge clk_i) begin
            if (step_i) begin
                if (write_i) begin
                    words[write_address] <= write_element_i;
                end
                word_q    <= words[read_address_i[read*AddressBits+:AddressBits]];
                address_q <= read_address_i[read*AddressBits+:AddressBits];
            end
        end

        // The word of this cycle's write, else that of the last cycle's, else that of the memory.
        logic [Width-1:0] element;
        always_comb begin
            element = word_q;
            if (write_i && write_address == address_q) begin
                element = write_element_i;
            end else if (recent_q && recent_address_q == address_q) begin
                element = recent_element_q;
            end
        end
        always_comb element_o[read*Width+:Width] = element;
    end

    // Parameters that make no sense end the elaboration.
    if (Width == 0 || Words == 0 || Reads == 0 || AddressBits > LargestBits) begin : gen_bad_shape
        $error("pushmem_random_access_memory: Width and Reads are at least 1, Words 1 to 2^LargestBits");
    end

    // Data choose words that there are.
    `PUSHMEM_ASSERT(a_write_in_range,
        (step_i && write_i) !== 1'b1 || (LargestBits + 1)'(write_address_i) < (LargestBits + 1)'(Words),
        ("%m: address %0d is beyond the memory", write_address_i))
endmodule
