// Access sequence: the addresses at which a port of a memory has its accesses, and their cycles: two affine functions
// of the indices of a loop nest. Level 0 is the innermost loop.
//
// Parameters: Levels of loops; CountBits, the width of an index; GapBits, the width of Start and of a gap;
// Extents, the extent of each level minus one, level 0 lowest; Start, the cycle of the first access; Gaps, for each
// level, the cycles from one access to the next when this level increments and those inside it start over, minus one;
// Words of the memory; First, the address of the first access; Wraps, whether addresses ever pass the last word;
// Deltas, for each level, what is then added to the address, modulo Words if it wraps, else modulo 2^AddressBits.
// Timing: the first cycle after `flush_i` is cycle 0; later cycles come with `step_i`, and without it nothing changes.
// `access_o` is high in the cycle of each access, `address_o` is its address. `accessed_o` is `access_o` a step
// earlier. Idle after reset and after the last access.
module pushmem_access_sequence #(
    parameter  int unsigned                        Levels      = 1,
    parameter  int unsigned                        CountBits   = 1,
    parameter  int unsigned                        GapBits     = 1,
    parameter  int unsigned                        Words       = 2,
    localparam int unsigned                        AddressBits = $clog2(Words),
    parameter  logic [(Levels * CountBits)-1:0]    Extents     = '0,
    parameter  logic [GapBits-1:0]                 Start       = '0,
    parameter  logic [(Levels * GapBits)-1:0]      Gaps        = '0,
    parameter  logic [AddressBits-1:0]             First       = '0,
    parameter  logic [(Levels * AddressBits)-1:0]  Deltas      = '0,
    parameter  bit                                 Wraps       = 1'b0
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   flush_i,
    input  logic                   step_i,
    output logic                   access_o,
    output logic [AddressBits-1:0] address_o,
    output logic                   accessed_o
);
    // Accesses are left; cycles to wait for the next one.
    logic                   active_q;
    logic [GapBits-1:0]     wait_q;
    logic [AddressBits-1:0] address_q;
    // Whether there is one now, and was one a step ago.
    logic                   access_q;
    logic                   accessed_q;
    logic                   advance;

    always_comb access_o   = access_q;
    always_comb address_o  = address_q;
    always_comb accessed_o = accessed_q;
    always_comb advance    = access_q && step_i;

    // Levels at their last index; levels inside which all are, which the next access changes.
    logic [Levels-1:0]      at_last;
    logic [Levels-1:0]      changes;
    logic                   all_last;
    logic [GapBits-1:0]     gap;
    logic [AddressBits-1:0] delta;
    always_comb begin
        all_last = 1'b1;
        gap      = '0;
        delta    = '0;
        for (int level = 0; level < Levels; level++) begin
            changes[level] = all_last;
            if (all_last) begin
                gap   = Gaps[level * GapBits+:GapBits];
                delta = Deltas[level * AddressBits+:AddressBits];
            end
            all_last = all_last && at_last[level];
        end
    end

    for (genvar level = 0; level < Levels; level++) begin : gen_level
        logic [CountBits-1:0] index_q;
        always_comb at_last[level] = index_q == Extents[level * CountBits+:CountBits];
        always_ff @(posedge clk_i) begin
            if (flush_i || (advance && changes[level] && at_last[level])) begin
                index_q <= '0;
            end else if (advance && changes[level]) begin
                index_q <= index_q + 1'b1;
            end
        end
    end

    // The next address. A sum beyond the last word begins again at the first.
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

    always_ff @(posedge clk_i) begin
        if (flush_i) begin
            wait_q    <= Start;
            address_q <= First;
        end else if (advance) begin
            wait_q    <= gap;
            address_q <= next_address;
        end else if (active_q && step_i) begin
            wait_q <= wait_q - 1'b1;
        end
    end

    // Only these bits need a reset: the counters mean nothing until the flush that sets the first.
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            active_q   <= 1'b0;
            access_q   <= 1'b0;
            accessed_q <= 1'b0;
        end else begin
            if (flush_i) begin
                active_q <= 1'b1;
                access_q <= Start == '0;
            end else if (step_i) begin
                active_q <= active_q && !(access_q && all_last);
                access_q <= access_q ? !all_last && gap == '0 : active_q && wait_q == GapBits'(1);
            end
            if (step_i) begin
                accessed_q <= access_q;
            end
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Levels == 0 || CountBits == 0 || GapBits == 0 || Words < 2) begin : gen_bad_shape
        $error("pushmem_access_sequence: Levels, CountBits and GapBits are at least 1, Words at least 2");
    end
endmodule
