// Proof of iteration domain and address generator, of all styles: with any configuration, and any flushes, steps and
// resets, the iteration domain visits the points of the loop nest in its order, once each after a flush, and the
// address is the affine function of the loop indices.
//
// The macros STYLE_per_level and STYLE_multiplier choose the style; without, it is the recurrence.
module address_generator_proof #(
    parameter int unsigned LEVELS      = 2,
    parameter int unsigned EXTENT_BITS = 2,
    parameter int unsigned WIDTH       = 3,
    parameter int unsigned MODULUS     = 0,
    parameter bit          WRONG_DELTA = 1'b0
) (
    input logic clk,
    input logic rst_n,
    input logic flush,
    input logic enable,
    input logic advance,

    input logic [LEVELS*EXTENT_BITS-1:0] any_extents,
    input logic [WIDTH-1:0]              any_start,
    input logic [LEVELS*WIDTH-1:0]       any_strides
);
    // The configuration: any, set in the first cycle, constant from then on.
    logic                          first_q = 1'b1;
    logic [LEVELS*EXTENT_BITS-1:0] extents = '0;
    logic [WIDTH-1:0]              start   = '0;
    logic [LEVELS*WIDTH-1:0]       strides = '0;
    always_ff @(posedge clk) begin
        first_q <= 1'b0;
        if (first_q) begin
            extents <= any_extents;
            start   <= any_start;
            strides <= any_strides;
        end
    end

    logic                          want_active;
    logic                          at_end;
    logic [LEVELS*EXTENT_BITS-1:0] want_indices;
    logic [LEVELS-1:0]             want_increments;
    logic [WIDTH-1:0]              want_address;
    logic [LEVELS*WIDTH-1:0]       terms;
    logic [LEVELS*WIDTH-1:0]       deltas;
    loop_nest_reference #(.LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS)) u_nest (
        .clk, .rst_n, .flush, .enable, .step(advance), .lasts(extents),
        .active(want_active), .at_end, .indices(want_indices), .increments(want_increments)
    );
    affine_reference #(
        .LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS), .WIDTH(WIDTH), .MODULUS(MODULUS), .WRONG_DELTA(WRONG_DELTA)
    ) u_affine (
        .indices(want_indices), .lasts(extents), .start, .strides, .value(want_address), .terms, .deltas
    );

    logic             active;
    logic [WIDTH-1:0] address;
`ifdef STYLE_multiplier
    logic [LEVELS*EXTENT_BITS-1:0] indices;
    pushmem_iteration_domain_indexed #(.LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS)) u_iteration_domain (
        .clk, .rst_n, .flush, .enable, .advance, .extents, .active, .indices
    );
    pushmem_address_generator_multiplier #(
        .LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS), .WIDTH(WIDTH), .MODULUS(MODULUS)
    ) u_address_generator (
        .indices, .start, .strides, .address
    );
`else
    logic [LEVELS-1:0] increments;
    pushmem_iteration_domain #(.LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS)) u_iteration_domain (
        .clk, .rst_n, .flush, .enable, .advance, .extents, .active, .increments
    );
`ifdef STYLE_per_level
    pushmem_address_generator_per_level #(.LEVELS(LEVELS), .WIDTH(WIDTH), .MODULUS(MODULUS)) u_address_generator (
        .clk, .flush, .advance, .increments, .start, .strides, .address
    );
`else
    pushmem_address_generator #(.LEVELS(LEVELS), .WIDTH(WIDTH), .MODULUS(MODULUS)) u_address_generator (
        .clk, .flush, .advance, .increments, .start, .deltas, .address
    );
`endif
`endif

    // Helping invariants, on what is inside the modules, make the proof inductive. They are proved with the rest.
    for (genvar level = 0; level < LEVELS; level++) begin : g_counters
        always_comb begin
            automatic logic [EXTENT_BITS-1:0] index = want_indices[level*EXTENT_BITS +: EXTENT_BITS];
            automatic logic [EXTENT_BITS-1:0] last  = extents[level*EXTENT_BITS +: EXTENT_BITS];
            if (want_active) begin
                assert (index <= last);
`ifndef STYLE_multiplier
                assert (u_iteration_domain.g_level[level].count_q
                        == {1'b0, last} - {1'b0, index} - 1'b1);
`endif
`ifdef STYLE_per_level
                assert (u_address_generator.g_level[level].term_q == terms[level*WIDTH +: WIDTH]);
`endif
            end
        end
    end

    always_comb begin
        // Everything else is unknown until a reset.
        assume (!(first_q && rst_n));
        if (MODULUS != 0) begin
            assume (start < MODULUS);
            for (int level = 0; level < LEVELS; level++) assume (strides[level*WIDTH +: WIDTH] < MODULUS);
        end
        assert (!first_q || !want_active);
        assert (active == want_active);
        if (want_active) begin
            assert (address == want_address);
`ifdef STYLE_multiplier
            assert (indices == want_indices);
`else
            assert (increments == want_increments);
`endif
        end
    end
endmodule
