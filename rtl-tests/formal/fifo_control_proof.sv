// Proof of the control of a FIFO: with memories around it as a tile has them, the words that leave are those that came, in their
// order, each once, whatever comes and goes, in any pattern of stalls and flushes; no more are inside than there is room for; a
// word that is offered stays until it is taken; and no output of a handshake depends on an input of the same cycle.
module fifo_control_proof #(
    parameter int unsigned Lanes    = 2,
    parameter int unsigned AggRows  = 2,
    parameter int unsigned SramRows = 2,
    parameter int unsigned TbRows   = 2,
    parameter int unsigned Latency  = 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic stall_i,
    input logic enable_i,
    input logic valid_i,
    input logic ready_i
);
    localparam int unsigned Capacity = (AggRows + SramRows + TbRows) * Lanes;
    localparam int unsigned Bits     = $clog2(Capacity + 1) + 1;
    localparam int unsigned LaneBits = Lanes > 1 ? $clog2(Lanes) : 1;
    localparam int unsigned AggBits  = AggRows > 1 ? $clog2(AggRows) : 1;
    localparam int unsigned SramBits = SramRows > 1 ? $clog2(SramRows) : 1;
    localparam int unsigned TbBits   = TbRows > 1 ? $clog2(TbRows) : 1;

    logic active, ready, push, store, pass, fetch, valid;
    logic [AggBits-1:0]  push_row, agg_row;
    logic [LaneBits-1:0] push_lane, pop_lane;
    logic [SramBits-1:0] store_row, fetch_row;
    logic [TbBits-1:0]   tb_row, pop_row;
    logic                arrived;
    pushmem_fifo_control #(.Lanes(Lanes), .AggRows(AggRows), .SramRows(SramRows), .TbRows(TbRows)) u_control (
        .clk_i, .rst_ni, .flush_i, .stall_i, .enable_i, .active_o(active), .valid_i, .ready_o(ready), .push_o(push),
        .push_row_o(push_row), .push_lane_o(push_lane), .agg_row_o(agg_row), .store_o(store), .store_row_o(store_row), .pass_o(pass),
        .fetch_o(fetch), .fetch_row_o(fetch_row), .arrived_i(arrived), .tb_row_o(tb_row), .valid_o(valid), .ready_i,
        .pop_row_o(pop_row), .pop_lane_o(pop_lane)
    );

    // Words are their numbers, as they come and as they leave.
    logic            first_q = 1'b1;
    logic [Bits-1:0] entered_q, left_q;
    logic [Bits-1:0] agg_q [AggRows][Lanes];
    logic [Bits-1:0] sram_q [SramRows][Lanes];
    logic [Bits-1:0] tb_q [TbRows][Lanes];
    // Rows on their way from the SRAM, the newest first.
    logic              way_q [Latency];
    logic [TbBits-1:0] way_row_q [Latency];
    logic [Bits-1:0]   way_words_q [Latency][Lanes];
    assign arrived = way_q[Latency-1];
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            for (int stage = 0; stage < Latency; stage++) way_q[stage] <= 1'b0;
        end else if (flush_i) begin
            for (int stage = 0; stage < Latency; stage++) way_q[stage] <= 1'b0;
        end else if (!stall_i) begin
            way_q[0] <= fetch;
            for (int stage = 1; stage < Latency; stage++) way_q[stage] <= way_q[stage-1];
        end
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (flush_i) begin
            entered_q <= '0;
            left_q    <= '0;
        end else if (!stall_i) begin
            entered_q <= entered_q + Bits'(push);
            left_q    <= left_q + Bits'(valid && ready_i);
        end
        if (!stall_i) begin
            if (push) agg_q[push_row][push_lane] <= entered_q;
            way_row_q[0] <= tb_row;
            for (int stage = 1; stage < Latency; stage++) way_row_q[stage] <= way_row_q[stage-1];
            for (int lane = 0; lane < Lanes; lane++) begin
                if (store) sram_q[store_row][lane] <= agg_q[agg_row][lane];
                if (pass) tb_q[tb_row][lane] <= agg_q[agg_row][lane];
                if (arrived) tb_q[way_row_q[Latency-1]][lane] <= way_words_q[Latency-1][lane];
                way_words_q[0][lane] <= sram_q[fetch_row][lane];
                for (int stage = 1; stage < Latency; stage++) way_words_q[stage][lane] <= way_words_q[stage-1][lane];
            end
        end
    end

    // The word that was offered and not taken in the cycle before.
    logic            waits_q;
    logic [Bits-1:0] waiting_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) waits_q <= 1'b0;
        else waits_q <= valid && !(ready_i && !stall_i) && !flush_i;
    end
    always_ff @(posedge clk_i) waiting_q <= tb_q[pop_row][pop_lane];

    // Rows, and the number of the first word of the row that leaves.
    int unsigned agg_rows, sram_rows, held_rows, tb_rows, tb_words, on_way;
    logic [Bits-1:0] base;
    always_comb begin
        agg_rows  = 32'(u_control.agg_rows_q);
        sram_rows = 32'(u_control.sram_rows_q);
        held_rows = 32'(u_control.held_rows_q);
        tb_rows   = 32'(u_control.tb_rows_q);
        tb_words  = 32'(u_control.tb_words_q);
        base      = left_q - Bits'(pop_lane);
        on_way    = 0;
        for (int stage = 0; stage < Latency; stage++) on_way += 32'(way_q[stage]);
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    int unsigned older;
    always_comb begin
        older = 0;
        if (rst_ni && !first_q && !active) assert (on_way == 0);
        if (rst_ni && !first_q && active) begin
            assert (agg_rows <= AggRows && sram_rows <= SramRows && held_rows <= TbRows && tb_rows <= held_rows);
            assert (32'(push_row) < AggRows && 32'(agg_row) < AggRows && 32'(store_row) < SramRows && 32'(fetch_row) < SramRows);
            assert (32'(tb_row) < TbRows && 32'(pop_row) < TbRows && 32'(push_lane) < Lanes && 32'(pop_lane) < Lanes);
            assert ((32'(agg_row) + agg_rows) % AggRows == 32'(push_row));
            assert ((32'(fetch_row) + sram_rows) % SramRows == 32'(store_row));
            assert ((32'(pop_row) + held_rows) % TbRows == 32'(tb_row));
            assert (held_rows - tb_rows == on_way);
            assert (agg_rows < AggRows || push_lane == '0);
            assert (entered_q == Bits'(32'(base) + Lanes * (held_rows + sram_rows + agg_rows) + 32'(push_lane)));
            // The words that are ahead are those of the next row, which has neither gone into the SRAM nor waits for one that has.
            assert (tb_words == 0 || sram_rows == 0 && on_way == 0 && held_rows < TbRows);
            assert (tb_words < Lanes && (agg_rows > 0 || tb_words <= 32'(push_lane)));
            assert (tb_rows > 0 || 32'(pop_lane) <= tb_words);
            assert (on_way == 0 || tb_rows > 0 || pop_lane == '0);
            for (int unsigned lane = 0; lane < Lanes; lane++) begin
                for (int unsigned row = 0; row < TbRows; row++) begin
                    if (row < tb_rows || row == held_rows && lane < tb_words) begin
                        assert (tb_q[(32'(pop_row) + row) % TbRows][lane] == Bits'(32'(base) + Lanes * row + lane));
                    end
                end
                for (int unsigned row = 0; row < SramRows; row++) begin
                    if (row < sram_rows) begin
                        assert (sram_q[(32'(fetch_row) + row) % SramRows][lane] == Bits'(32'(base) + Lanes * (held_rows + row) + lane));
                    end
                end
                for (int unsigned row = 0; row < AggRows; row++) begin
                    if (row < agg_rows || row == agg_rows && lane < 32'(push_lane)) begin
                        assert (agg_q[(32'(agg_row) + row) % AggRows][lane] ==
                                Bits'(32'(base) + Lanes * (held_rows + sram_rows + row) + lane));
                    end
                end
            end
            for (int stage = Latency - 1; stage >= 0; stage--) begin
                if (way_q[stage]) begin
                    assert (32'(way_row_q[stage]) == (32'(pop_row) + tb_rows + older) % TbRows);
                    for (int unsigned lane = 0; lane < Lanes; lane++) begin
                        assert (way_words_q[stage][lane] == Bits'(32'(base) + Lanes * (tb_rows + older) + lane));
                    end
                    older++;
                end
            end
            if (waits_q) assert (valid && tb_q[pop_row][pop_lane] == waiting_q);
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            if (!active) assert (!ready && !valid);
            if (active) begin
                assert (32'(Bits'(entered_q - left_q)) <= Capacity);
                assert (!(store && fetch));
                if (valid) assert (entered_q != left_q && tb_q[pop_row][pop_lane] == left_q);
                if (waits_q) assert (valid);
                // Whatever is inside moves on: a word that none is before waits for the SRAM alone.
                if (entered_q != left_q && !valid) assert (on_way != 0 || fetch || pass);
                if (!ready) assert (32'(Bits'(entered_q - left_q)) > (AggRows - 1) * Lanes);
            end
        end
    end
endmodule
