// Proof of the frames of an output stream, for any pattern of beats and starts: the last beat of each run is marked, and no other;
// `whole_o` tells that the last beat of a run was taken since the last start, or with it.
module stream_out_frame_proof #(
    parameter int unsigned Beats = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic valid_i,
    input logic ready_i
);
    logic last;
    logic whole;
    pushmem_stream_out_frame #(.Beats(64'(Beats))) u_frame (
        .clk_i, .rst_ni, .start_i, .valid_i, .ready_i, .last_o(last), .whole_o(whole)
    );

    // The beats that are left of the run, and whether its last one was taken.
    logic       first_q = 1'b1;
    logic [3:0] left_q;
    logic       taken_q;
    always_ff @(posedge clk_i) first_q <= 1'b0;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            left_q  <= 4'(Beats);
            taken_q <= 1'b0;
        end else begin
            if (start_i) taken_q <= 1'b0;
            if (valid_i && ready_i) begin
                left_q <= left_q == 4'd1 ? 4'(Beats) : left_q - 4'd1;
                if (left_q == 4'd1) taken_q <= 1'b1;
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            // The first two make the proof inductive.
            assert (left_q != '0 && left_q <= 4'(Beats));
            assert (32'(u_frame.count_q) == Beats - 32'(left_q));
            assert (last == (left_q == 4'd1));
            assert (whole == taken_q);
        end
    end
endmodule
