// Proof of the controller, of all styles: with any configuration, and any stalls, flushes and resets, it fires exactly
// in the cycles whose number, counted without stalls from the flush, equals the affine schedule of the next point of
// the loop nest, modulo 2^CYCLE_BITS. So it fires neither between reset and the first flush, nor after the last point.
//
// The macros STYLE_per_level and STYLE_multiplier choose the style; without, it is the recurrence.
module controller_proof #(
    parameter int unsigned LEVELS      = 2,
    parameter int unsigned EXTENT_BITS = 2,
    parameter int unsigned WIDTH       = 3,
    parameter bit          WRONG_DELTA = 1'b0
) (
    input logic clk,
    input logic rst_n,
    input logic flush,
    input logic stall,
    input logic enable,

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
    logic                          want_fire;
    logic                          at_end;
    logic [LEVELS*EXTENT_BITS-1:0] want_indices;
    logic [LEVELS-1:0]             want_increments;
    logic [WIDTH-1:0]              want_cycle;
    logic [LEVELS*WIDTH-1:0]       terms;
    logic [LEVELS*WIDTH-1:0]       deltas;
    logic [WIDTH-1:0]              time_q;
    loop_nest_reference #(.LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS)) u_nest (
        .clk, .rst_n, .flush, .enable, .step(want_fire && !stall), .lasts(extents),
        .active(want_active), .at_end, .indices(want_indices), .increments(want_increments)
    );
    affine_reference #(
        .LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS), .WIDTH(WIDTH), .WRONG_DELTA(WRONG_DELTA)
    ) u_affine (
        .indices(want_indices), .lasts(extents), .start, .strides, .value(want_cycle), .terms, .deltas
    );
    always_ff @(posedge clk) begin
        if (flush) time_q <= '0;
        else if (!stall) time_q <= time_q + 1'b1;
    end
    always_comb want_fire = want_active && want_cycle == time_q;

    logic fire;
`ifdef STYLE_multiplier
    logic [LEVELS*EXTENT_BITS-1:0] indices;
    logic [WIDTH-1:0]              cycle;
    pushmem_cycle_counter #(.CYCLE_BITS(WIDTH)) u_cycle_counter (.clk, .flush, .stall, .cycle);
    pushmem_controller_multiplier #(.LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS), .CYCLE_BITS(WIDTH)) u_controller (
        .clk, .rst_n, .flush, .stall, .enable, .cycle, .extents, .cycle_start(start), .cycle_steps(strides),
        .fire, .indices
    );
`elsif STYLE_per_level
    logic [LEVELS-1:0] increments;
    logic [WIDTH-1:0]  cycle;
    pushmem_cycle_counter #(.CYCLE_BITS(WIDTH)) u_cycle_counter (.clk, .flush, .stall, .cycle);
    pushmem_controller_per_level #(.LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS), .CYCLE_BITS(WIDTH)) u_controller (
        .clk, .rst_n, .flush, .stall, .enable, .cycle, .extents, .cycle_start(start), .cycle_steps(strides),
        .fire, .increments
    );
`else
    logic [LEVELS-1:0]       increments;
    logic [LEVELS*WIDTH-1:0] gaps;
    // A gap is a delta from 1 to 2^WIDTH, given minus one.
    always_comb begin
        for (int level = 0; level < LEVELS; level++) gaps[level*WIDTH +: WIDTH] = deltas[level*WIDTH +: WIDTH] - 1'b1;
    end
    pushmem_controller #(.LEVELS(LEVELS), .EXTENT_BITS(EXTENT_BITS), .CYCLE_BITS(WIDTH)) u_controller (
        .clk, .rst_n, .flush, .stall, .enable, .extents, .cycle_start(start), .cycle_steps(gaps),
        .fire, .increments
    );
`endif

    // Said once more, without the reference nest's `active`.
    logic flushed_q;
    logic finished_q;
    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            flushed_q  <= 1'b0;
            finished_q <= 1'b0;
        end else if (flush) begin
            flushed_q  <= 1'b1;
            finished_q <= 1'b0;
        end else if (fire && !stall && at_end) begin
            finished_q <= 1'b1;
        end
    end

    // Helping invariants, on what is inside the modules, make the proof inductive. They are proved with the rest.
    for (genvar level = 0; level < LEVELS; level++) begin : g_counters
        always_comb begin
            automatic logic [EXTENT_BITS-1:0] index = want_indices[level*EXTENT_BITS +: EXTENT_BITS];
            automatic logic [EXTENT_BITS-1:0] last  = extents[level*EXTENT_BITS +: EXTENT_BITS];
            if (want_active) begin
                assert (index <= last);
`ifndef STYLE_multiplier
                assert (u_controller.u_iteration_domain.g_level[level].count_q
                        == {1'b0, last} - {1'b0, index} - 1'b1);
`endif
`ifdef STYLE_per_level
                assert (u_controller.u_schedule.g_level[level].term_q == terms[level*WIDTH +: WIDTH]);
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
        if (want_active) assert (u_controller.u_schedule_generator.wait_q == WIDTH'(want_cycle - time_q));
`endif
        assert (flushed_q || !want_active);
        assert (!finished_q || !want_active);
    end

    always_comb begin
        // Everything else is unknown until a reset.
        assume (!(first_q && rst_n));
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
