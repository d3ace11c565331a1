// Access sequence: the addresses at which a port of a memory has its accesses, and their cycles: two affine functions
// of the indices of a loop nest. Level 0 is the innermost loop.
//
// Parameters: Levels, CountBits, GapBits, Extents, Start and Gaps are those of the loop counter; Words of the memory;
// First, the address of the first access; Wraps, whether addresses ever pass the last word; Deltas, for each level,
// what is added to the address when it increments and those inside it start over, modulo Words if it wraps, else modulo
// 2^AddressBits.
// Timing: that of the loop counter. `access_o` is high in the cycle of each access, `address_o` is its address.
// `accessed_o` is high a step later.
module pushmem_access_sequence #(
    parameter  int unsigned                       Levels      = 1,
    parameter  int unsigned                       CountBits   = 1,
    parameter  int unsigned                       GapBits     = 1,
    parameter  int unsigned                       Words       = 2,
    localparam int unsigned                       AddressBits = $clog2(Words),
    parameter  logic [(Levels * CountBits)-1:0]   Extents     = '0,
    parameter  logic [GapBits-1:0]                Start       = '0,
    parameter  logic [(Levels * GapBits)-1:0]     Gaps        = '0,
    parameter  logic [AddressBits-1:0]            First       = '0,
    parameter  logic [(Levels * AddressBits)-1:0] Deltas      = '0,
    parameter  bit                                Wraps       = 1'b0
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   flush_i,
    input  logic                   step_i,
    output logic                   access_o,
    output logic [AddressBits-1:0] address_o,
    output logic                   accessed_o
);
    logic [(Levels * CountBits)-1:0] indices;
    pushmem_loop_counter #(
        .Levels    (Levels),
        .CountBits (CountBits),
        .GapBits   (GapBits),
        .Extents   (Extents),
        .Start     (Start),
        .Gaps      (Gaps)
    ) u_loops (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .flush_i   (flush_i),
        .step_i    (step_i),
        .steps_o   (access_o),
        .indices_o (indices)
    );

    // The delta of the level that increments next: the first whose index is not the last.
    logic                   all_last;
    logic [AddressBits-1:0] delta;
    always_comb begin
        all_last = 1'b1;
        delta    = '0;
        for (int unsigned level = 0; level < Levels; level++) begin
            if (all_last) begin
                delta = Deltas[level * AddressBits+:AddressBits];
            end
            all_last = all_last && indices[level * CountBits+:CountBits] == Extents[level * CountBits+:CountBits];
        end
    end

    // The next address. A sum beyond the last word begins again at the first.
    logic [AddressBits-1:0] address_q;
    logic [AddressBits-1:0] next_address;
    if (Wraps && Words != 2 ** AddressBits) begin : gen_wrapped
        logic [AddressBits:0] sum;
        logic [AddressBits:0] wrapped;
        always_comb sum          = {1'b0, address_q} + {1'b0, delta};
        always_comb wrapped      = sum - (AddressBits + 1)'(Words);
        always_comb next_address = wrapped[AddressBits] ? sum[AddressBits-1:0] : wrapped[AddressBits-1:0];
    end else begin : gen_sum
        always_comb next_address = address_q + delta;
    end

    logic accessed_q;
    always_comb address_o  = address_q;
    always_comb accessed_o = accessed_q;

    always_ff @(posedge clk_i) begin
        if (flush_i) begin
            address_q <= First;
        end else if (access_o && step_i) begin
            address_q <= next_address;
        end
    end

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            accessed_q <= 1'b0;
        end else if (step_i) begin
            accessed_q <= access_o;
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Words < 2) begin : gen_bad_shape
        $error("pushmem_access_sequence: Words is at least 2");
    end
endmodule
