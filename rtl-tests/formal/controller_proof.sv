// Proof of the controller, of all styles: with any configuration, and any stalls, flushes and resets, it fires exactly
// in the cycles whose number, counted without stalls from the flush, equals the affine schedule of the next point of
// the loop nest, modulo 2^CycleBits. So it fires neither between reset and the first flush, nor after the last point.
//
// The macros STYLE_per_level and STYLE_multiplier choose the style; without, it is the recurrence.
module controller_proof #(
    parameter int unsigned Levels      = 2,
    parameter int unsigned ExtentBits = 2,
    parameter int unsigned Width       = 3,
    parameter bit          WrongDelta = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic stall_i,
    input logic enable_i,

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
    logic                          want_fire;
    logic                          at_end;
    logic [Levels*ExtentBits-1:0] want_indices;
    logic [Levels-1:0]             want_increments;
    logic [Width-1:0]              want_cycle;
    logic [Levels*Width-1:0]       terms;
    logic [Levels*Width-1:0]       deltas;
    logic [Width-1:0]              time_q;
    loop_nest_reference #(.Levels(Levels), .ExtentBits(ExtentBits)) u_nest (
        .clk_i, .rst_ni, .flush_i, .enable_i, .step_i(want_fire && !stall_i), .lasts_i(extents),
        .active_o(want_active), .at_end_o(at_end), .indices_o(want_indices), .increments_o(want_increments)
    );
    affine_reference #(
        .Levels(Levels), .ExtentBits(ExtentBits), .Width(Width), .WrongDelta(WrongDelta)
    ) u_affine (
        .indices_i(want_indices), .lasts_i(extents), .start_i(start), .strides_i(strides), .value_o(want_cycle), .terms_o(terms), .deltas_o(deltas)
    );
    always_ff @(posedge clk_i) begin
        if (flush_i) time_q <= '0;
        else if (!stall_i) time_q <= time_q + 1'b1;
    end
    always_comb want_fire = want_active && want_cycle == time_q;

    logic fire;
`ifdef STYLE_multiplier
    logic [Levels*ExtentBits-1:0] indices;
    logic [Width-1:0]              cycle;
    pushmem_cycle_counter #(.CycleBits(Width)) u_cycle_counter (.clk_i, .flush_i, .stall_i, .cycle_o(cycle));
    pushmem_controller_multiplier #(.Levels(Levels), .ExtentBits(ExtentBits), .CycleBits(Width)) u_controller (
        .clk_i, .rst_ni, .flush_i, .stall_i, .enable_i, .cycle_i(cycle), .extents_i(extents), .cycle_start_i(start), .cycle_steps_i(strides),
        .fire_o(fire), .indices_o(indices)
    );
`elsif STYLE_per_level
    logic [Levels-1:0] increments;
    logic [Width-1:0]  cycle;
    pushmem_cycle_counter #(.CycleBits(Width)) u_cycle_counter (.clk_i, .flush_i, .stall_i, .cycle_o(cycle));
    pushmem_controller_per_level #(.Levels(Levels), .ExtentBits(ExtentBits), .CycleBits(Width)) u_controller (
        .clk_i, .rst_ni, .flush_i, .stall_i, .enable_i, .cycle_i(cycle), .extents_i(extents), .cycle_start_i(start), .cycle_steps_i(strides),
        .fire_o(fire), .increments_o(increments)
    );
`else
    logic [Levels-1:0]       increments;
    logic [Levels*Width-1:0] gaps;
    // A gap is a delta from 1 to 2^Width, given minus one.
    always_comb begin
        for (int level = 0; level < Levels; level++) gaps[level*Width +: Width] = deltas[level*Width +: Width] - 1'b1;
    end
    pushmem_controller #(.Levels(Levels), .ExtentBits(ExtentBits), .CycleBits(Width)) u_controller (
        .clk_i, .rst_ni, .flush_i, .stall_i, .enable_i, .extents_i(extents), .cycle_start_i(start), .cycle_steps_i(gaps),
        .fire_o(fire), .increments_o(increments)
    );
`endif

    // Said once more, without the reference nest's `active`.
    logic flushed_q;
    logic finished_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            flushed_q  <= 1'b0;
            finished_q <= 1'b0;
        end else if (flush_i) begin
            flushed_q  <= 1'b1;
            finished_q <= 1'b0;
        end else if (fire && !stall_i && at_end) begin
            finished_q <= 1'b1;
        end
    end

    // Helping invariants, on what is inside the modules, make the proof inductive. They are proved with the rest.
    for (genvar level = 0; level < Levels; level++) begin : gen_counters
        always_comb begin
            automatic logic [ExtentBits-1:0] index = want_indices[level*ExtentBits +: ExtentBits];
            automatic logic [ExtentBits-1:0] last  = extents[level*ExtentBits +: ExtentBits];
            if (want_active) begin
                assert (index <= last);
`ifndef STYLE_multiplier
                assert (u_controller.u_iteration_domain.gen_level[level].count_q
                        == {1'b0, last} - {1'b0, index} - 1'b1);
`endif
`ifdef STYLE_per_level
                assert (u_controller.u_schedule.gen_level[level].term_q == terms[level*Width +: Width]);
`endif
            end
        end
    end
    always_comb begin
        assert (!first_q || !want_active);
        assert (u_controller.active == want_active);
`ifdef STYLE_multiplier
        if (want_active) assert (cycle == time_q);
        if (want_active) assert (indices == want_indices);
`elsif STYLE_per_level
        if (want_active) assert (cycle == time_q);
`else
        if (want_active) assert (u_controller.u_schedule_generator.wait_q == Width'(want_cycle - time_q));
`endif
        assert (flushed_q || !want_active);
        assert (!finished_q || !want_active);
    end

    always_comb begin
        // Everything else is unknown until a reset.
        assume (!(first_q && rst_ni));
        assert (fire == want_fire);
        assert (!fire || flushed_q);
        assert (!fire || !finished_q);
`ifdef STYLE_multiplier
        if (fire) assert (indices == want_indices);
`else
        if (fire) assert (increments == want_increments);
`endif
    end
endmodule
