// Proof of the run control, for any behaviour of the streams and of who starts runs: a cycle of the schedule takes place
// exactly when a run goes on and every stream that is due is ready; a run has Length of them, and `done` in the last;
// `flush` comes once before each run, and never within one but in its last cycle; every start makes one run, at once
// when idle and else right after the run that goes on, but for starts that find one waiting already, which are ignored;
// nothing runs without a start.
module run_control_proof #(
    parameter int unsigned Length  = 3,
    parameter int unsigned Streams = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,

    input logic [Streams-1:0] due_i,
    input logic [Streams-1:0] ready_i
);
    logic busy;
    logic done;
    logic flush;
    logic step;
    pushmem_run_control #(.Length(Length), .Streams(Streams)) u_run_control (
        .clk_i, .rst_ni, .start_i, .busy_o(busy), .done_o(done), .due_i, .ready_i, .flush_o(flush), .step_o(step)
    );

    // The cycles of the run that are left; no run goes on when there are none. Requests that wait for their run.
    localparam int unsigned Bits = $clog2(Length + 1);
    logic            first_q = 1'b1;
    logic [Bits-1:0] left_q;
    logic            waits_q;

    logic       can_step;
    logic       want_step;
    logic       want_done;
    logic       want_flush;
    logic [1:0] requests;
    always_comb begin
        can_step = 1'b1;
        for (int stream = 0; stream < Streams; stream++) begin
            if (due_i[stream] && !ready_i[stream]) can_step = 1'b0;
        end
        want_step  = left_q != '0 && can_step;
        want_done  = want_step && left_q == Bits'(1);
        requests   = 2'(start_i) + 2'(waits_q);
        want_flush = requests != '0 && (left_q == '0 || want_done);
    end
    always_ff @(posedge clk_i) first_q <= 1'b0;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            left_q  <= '0;
            waits_q <= 1'b0;
        end else begin
            if (want_flush) left_q <= Bits'(Length);
            else if (want_step) left_q <= left_q - 1'b1;
            waits_q <= requests - 2'(want_flush) != '0;
        end
    end

    // Said once more, without the reference: what came since the last flush, and whether a run is owed.
    logic            open_q;
    logic            owed_q;
    logic [Bits-1:0] steps_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            open_q  <= 1'b0;
            owed_q  <= 1'b0;
            steps_q <= '0;
        end else begin
            open_q  <= flush || open_q && !done;
            owed_q  <= start_i || owed_q && !flush;
            if (flush) steps_q <= '0;
            else if (step) steps_q <= steps_q + 1'b1;
        end
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (left_q <= Length);
            assert (u_run_control.busy_q == (left_q != '0));
            assert (u_run_control.wanted_q == waits_q);
            if (left_q != '0) assert (u_run_control.cycle_q == Length - left_q);
            if (left_q != '0) assert (u_run_control.is_last_q == (left_q == 1));
            assert (open_q == (left_q != '0));
            if (open_q) assert (steps_q == Length - left_q);
            if (waits_q) assert (owed_q && left_q != '0);
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            assert (busy == (left_q != '0));
            assert (step == want_step);
            assert (done == want_done);
            assert (flush == want_flush);

            assert (busy == open_q);
            assert (!step || open_q);
            assert (!done || step && steps_q == Length - 1);
            assert (!(step && steps_q == Length - 1) || done);
            assert (!flush || !open_q || done);
            assert (!flush || start_i || owed_q);
            assert (!start_i || open_q && !done || flush);
        end
    end
endmodule
