// Proof of the stall pipeline with its run control, for any behaviour of the streams and of who starts runs: the hardware has
// what the run control decides, Latency cycles later; a run has one flush and then Length steps there, and `done` in the last;
// no flush comes within a run but in its last cycle; every start makes one run, but for starts that find one run that goes on
// and one that waits, which are ignored; `busy` is high from the cycle after a start to the last cycle of its run.
module stall_pipeline_proof #(
    parameter int unsigned Length  = 3,
    parameter int unsigned Latency = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic due_i,
    input logic ready_i
);
    logic ask;
    logic ahead_flush;
    logic ahead_step;
    logic ahead_done;
    logic ahead_busy;
    pushmem_run_control #(.Length(Length), .Streams(1)) u_run_control (
        .clk_i, .rst_ni, .start_i(ask), .busy_o(ahead_busy), .done_o(ahead_done), .due_i, .ready_i, .flush_o(ahead_flush),
        .step_o(ahead_step)
    );
    logic busy;
    logic done;
    logic flush;
    logic step;
    pushmem_stall_pipeline #(.Latency(Latency)) u_pipeline (
        .clk_i, .rst_ni, .start_i, .busy_o(busy), .done_o(done), .ask_o(ask), .flush_i(ahead_flush), .step_i(ahead_step),
        .done_i(ahead_done), .flush_o(flush), .step_o(step)
    );

    // Runs that were asked for and are not over, and the steps since the last flush of a run that goes on: in the time of the
    // hardware.
    localparam int unsigned Bits = $clog2(Length + 1);
    logic            first_q = 1'b1;
    logic [1:0]      runs_q;
    logic            open_q;
    logic [Bits-1:0] steps_q;
    logic            want_ask;
    always_comb want_ask = start_i && (runs_q < 2'd2 || done);
    always_ff @(posedge clk_i) first_q <= 1'b0;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            runs_q  <= '0;
            open_q  <= 1'b0;
            steps_q <= '0;
        end else begin
            runs_q <= runs_q + 2'(want_ask) - 2'(done);
            open_q <= flush || open_q && !done;
            if (flush) steps_q <= '0;
            else if (step) steps_q <= steps_q + 1'b1;
        end
    end

    // The steps that are left of a run, in the time of the run control, and so many cycles later, up to the time of the hardware.
    logic [Latency:0][Bits-1:0] left_q;
    logic [Bits-1:0]            left_next;
    always_comb left_next = ahead_flush ? Bits'(Length) : left_q[0] - Bits'(ahead_step);
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) left_q <= '0;
        else left_q <= {left_q[Latency-1:0], left_next};
    end

    // Helping invariants, on what is inside the modules, make the proof inductive. They are proved with the rest.
    logic [3:0] over;
    always_comb begin
        over = '0;
        for (int age = 0; age < Latency; age++) begin
            over = over + 4'(u_pipeline.done_q[age]);
        end
    end
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (left_q[0] <= Length);
            assert (u_run_control.busy_q == (left_q[0] != '0));
            if (left_q[0] != '0) assert (u_run_control.cycle_q == Length - left_q[0]);
            if (left_q[0] != '0) assert (u_run_control.is_last_q == (left_q[0] == 1));
            assert (!u_run_control.wanted_q || left_q[0] != '0);
            assert (4'(runs_q) == over + 4'(left_q[0] != '0) + 4'(u_run_control.wanted_q));
            assert (u_pipeline.runs_q == runs_q);
            assert (open_q == (left_q[Latency] != '0));
            if (open_q) assert (steps_q == Length - left_q[Latency]);
        end
    end
    for (genvar age = 0; age < Latency; age++) begin : gen_age
        // Between two cycles of a run.
        logic [Bits-1:0] earlier;
        always_comb earlier = left_q[age+1];
        always_comb begin
            if (rst_ni && !first_q) begin
                assert (earlier <= Length);
                assert (!u_pipeline.step_q[age] || earlier != '0);
                assert (u_pipeline.done_q[age] == (u_pipeline.step_q[age] && earlier == Bits'(1)));
                assert (!u_pipeline.flush_q[age] || earlier == '0 || u_pipeline.done_q[age]);
                assert (left_q[age] == (u_pipeline.flush_q[age] ? Bits'(Length) : earlier - Bits'(u_pipeline.step_q[age])));
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            assert (ask == want_ask);
            assert (runs_q <= 2'd2);
            assert (busy == (runs_q != 2'd0));
            assert (!step || open_q);
            assert (!open_q || busy);
            assert (done == (step && steps_q == Length - 1));
            assert (!flush || !open_q || done);
            assert (!flush || busy);
        end
    end

    // The hardware has what was decided, Latency cycles later.
    logic [Latency-1:0][2:0] decided_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) decided_q <= '0;
        else decided_q <= (3 * Latency)'({decided_q, ahead_flush, ahead_step, ahead_done});
    end
    for (genvar age = 0; age < Latency; age++) begin : gen_decided
        always_comb begin
            if (rst_ni && !first_q) begin
                assert (decided_q[age] == {u_pipeline.flush_q[age], u_pipeline.step_q[age], u_pipeline.done_q[age]});
            end
        end
    end
    always_comb begin
        if (rst_ni && !first_q) assert ({flush, step, done} == decided_q[Latency-1]);
    end
endmodule
