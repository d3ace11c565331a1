// Proof of iteration domain and address generator, of all styles: with any configuration, and any flushes, steps and
// resets, the iteration domain visits the points of the loop nest in its order, once each after a flush, and the
// address is the affine function of the loop indices.
//
// The macros STYLE_per_level and STYLE_multiplier choose the style; without, it is the recurrence.
module address_generator_proof #(
    parameter int unsigned Levels      = 2,
    parameter int unsigned ExtentBits = 2,
    parameter int unsigned Width       = 3,
    parameter int unsigned Modulus     = 0,
    parameter bit          WrongDelta = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic enable_i,
    input logic advance_i,

    input logic [Levels*ExtentBits-1:0] any_extents_i,
    input logic [Width-1:0]              any_start_i,
    input logic [Levels*Width-1:0]       any_strides_i
);
    // The configuration: any, set in the first cycle, constant from then on.
    logic                          first_q = 1'b1;
    logic [Levels*ExtentBits-1:0] extents = '0;
    logic [Width-1:0]              start   = '0;
    logic [Levels*Width-1:0]       strides = '0;
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (first_q) begin
            extents <= any_extents_i;
            start   <= any_start_i;
            strides <= any_strides_i;
        end
    end

    logic                          want_active;
    logic                          at_end;
    logic [Levels*ExtentBits-1:0] want_indices;
    logic [Levels-1:0]             want_increments;
    logic [Width-1:0]              want_address;
    logic [Levels*Width-1:0]       terms;
    logic [Levels*Width-1:0]       deltas;
    loop_nest_reference #(.Levels(Levels), .ExtentBits(ExtentBits)) u_nest (
        .clk_i, .rst_ni, .flush_i, .enable_i, .step_i(advance_i), .lasts_i(extents),
        .active_o(want_active), .at_end_o(at_end), .indices_o(want_indices), .increments_o(want_increments)
    );
    affine_reference #(
        .Levels(Levels), .ExtentBits(ExtentBits), .Width(Width), .Modulus(Modulus), .WrongDelta(WrongDelta)
    ) u_affine (
        .indices_i(want_indices), .lasts_i(extents), .start_i(start), .strides_i(strides), .value_o(want_address), .terms_o(terms), .deltas_o(deltas)
    );

    logic             active;
    logic [Width-1:0] address;
`ifdef STYLE_multiplier
    logic [Levels*ExtentBits-1:0] indices;
    pushmem_iteration_domain_indexed #(.Levels(Levels), .ExtentBits(ExtentBits)) u_iteration_domain (
        .clk_i, .rst_ni, .flush_i, .enable_i, .advance_i, .extents_i(extents), .active_o(active), .indices_o(indices)
    );
    pushmem_address_generator_multiplier #(
        .Levels(Levels), .ExtentBits(ExtentBits), .Width(Width), .Modulus(Modulus)
    ) u_address_generator (
        .indices_i(indices), .start_i(start), .strides_i(strides), .address_o(address)
    );
`else
    logic [Levels-1:0] increments;
    pushmem_iteration_domain #(.Levels(Levels), .ExtentBits(ExtentBits)) u_iteration_domain (
        .clk_i, .rst_ni, .flush_i, .enable_i, .advance_i, .extents_i(extents), .active_o(active), .increments_o(increments)
    );
`ifdef STYLE_per_level
    pushmem_address_generator_per_level #(.Levels(Levels), .Width(Width), .Modulus(Modulus)) u_address_generator (
        .clk_i, .flush_i, .advance_i, .increments_i(increments), .start_i(start), .strides_i(strides), .address_o(address)
    );
`else
    pushmem_address_generator #(.Levels(Levels), .Width(Width), .Modulus(Modulus)) u_address_generator (
        .clk_i, .flush_i, .advance_i, .increments_i(increments), .start_i(start), .deltas_i(deltas), .address_o(address)
    );
`endif
`endif

    // Helping invariants, on what is inside the modules, make the proof inductive. They are proved with the rest.
    for (genvar level = 0; level < Levels; level++) begin : gen_counters
        always_comb begin
            automatic logic [ExtentBits-1:0] index = want_indices[level*ExtentBits +: ExtentBits];
            automatic logic [ExtentBits-1:0] last  = extents[level*ExtentBits +: ExtentBits];
            if (want_active) begin
                assert (index <= last);
`ifndef STYLE_multiplier
                assert (u_iteration_domain.gen_level[level].count_q
                        == {1'b0, last} - {1'b0, index} - 1'b1);
`endif
`ifdef STYLE_per_level
                assert (u_address_generator.gen_level[level].term_q == terms[level*Width +: Width]);
`endif
            end
        end
    end

    always_comb begin
        // Everything else is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (Modulus != 0) begin
            assume (start < Modulus);
            for (int level = 0; level < Levels; level++) assume (strides[level*Width +: Width] < Modulus);
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
