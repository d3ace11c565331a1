// Proof of the stream buffer: whatever comes and goes, the beats that leave are those that entered, in their order, each
// once; a beat that is offered stays as it is until it is taken; a beat may leave in the cycle after the one in which it
// entered; there is room whenever fewer than two beats are inside, so that beats pass at one a cycle; and no output
// depends on an input of the same cycle.
module stream_buffer_proof #(
    parameter int unsigned Width = 2
) (
    input logic clk_i,
    input logic rst_ni,

    input logic             in_valid_i,
    input logic [Width-1:0] in_data_i,
    input logic             out_ready_i,

    // The inputs of another buffer.
    input logic             other_in_valid_i,
    input logic [Width-1:0] other_in_data_i,
    input logic             other_out_ready_i
);
    logic             in_ready;
    logic             out_valid;
    logic [Width-1:0] out_data;
    pushmem_stream_buffer #(.Width(Width)) u_buffer (
        .clk_i, .rst_ni, .in_valid_i, .in_ready_o(in_ready), .in_data_i, .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data)
    );

    logic             other_in_ready;
    logic             other_out_valid;
    logic [Width-1:0] other_out_data;
    pushmem_stream_buffer #(.Width(Width)) u_other (
        .clk_i, .rst_ni, .in_valid_i(other_in_valid_i), .in_ready_o(other_in_ready), .in_data_i(other_in_data_i),
        .out_valid_o(other_out_valid), .out_ready_i(other_out_ready_i), .out_data_o(other_out_data)
    );

    // Beats are numbered as they enter and as they leave. As at most two are inside, which is proved, two bits of the
    // numbers tell them apart.
    logic             first_q = 1'b1;
    logic [1:0]       entered_q;
    logic [1:0]       left_q;
    logic [1:0]       held;
    logic [Width-1:0] beats_q [4];
    always_comb held = entered_q - left_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            entered_q <= '0;
            left_q    <= '0;
        end else begin
            if (in_valid_i && in_ready) entered_q <= entered_q + 1'b1;
            if (out_valid && out_ready_i) left_q <= left_q + 1'b1;
        end
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (in_valid_i && in_ready) beats_q[entered_q] <= in_data_i;
    end

    // The beat that was offered in the cycle before and not taken.
    logic             waits_q;
    logic [Width-1:0] waiting_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) waits_q <= 1'b0;
        else waits_q <= out_valid && !out_ready_i;
    end
    always_ff @(posedge clk_i) waiting_q <= out_data;

    // Whether the other buffer has had other inputs in an earlier cycle.
    logic apart_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            apart_q <= 1'b0;
        end else if ({in_valid_i, in_data_i, out_ready_i} != {other_in_valid_i, other_in_data_i, other_out_ready_i}) begin
            apart_q <= 1'b1;
        end
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (u_buffer.first_valid_q == (held != 2'd0));
            assert (u_buffer.second_valid_q == (held == 2'd2));
            if (held == 2'd2) assert (u_buffer.second_q == beats_q[left_q + 2'd1]);
            if (waits_q) assert (u_buffer.first_valid_q && u_buffer.first_q == waiting_q);
            if (!apart_q) begin
                assert (u_other.first_valid_q == u_buffer.first_valid_q);
                assert (u_other.second_valid_q == u_buffer.second_valid_q);
                if (held == 2'd2) assert (u_other.second_q == u_buffer.second_q);
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (!rst_ni) begin
`ifndef SYNCHRONOUS
            assert (first_q || in_ready && !out_valid);
`endif
        end else begin
            assert (held != 2'd3);
            assert (in_ready == (held < 2'd2));
            assert (out_valid == (held != 2'd0));
            if (out_valid) assert (out_data == beats_q[left_q]);
            if (waits_q) assert (out_valid && out_data == waiting_q);
            if (!apart_q) begin
                assert (in_ready == other_in_ready);
                assert (out_valid == other_out_valid);
                if (out_valid) assert (out_data == other_out_data);
            end
        end
    end
endmodule
