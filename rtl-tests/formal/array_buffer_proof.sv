// Proof of the buffer of an array's streams, for any pushes below its depth and any pops above nothing: the beats that are
// shown are those that were pushed, in their order, each once, and the count is that of those inside.
module array_buffer_proof #(
    parameter int unsigned Width = 1,
    parameter int unsigned Depth = 3,
    localparam int unsigned CountBits = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic push_i,
    input logic [Width-1:0] beat_i,
    input logic pop_i
);
    logic [Width-1:0]     beat;
    logic [CountBits-1:0] count;
    pushmem_array_buffer #(.Width(Width), .Depth(Depth)) u_buffer (
        .clk_i, .rst_ni, .clear_i, .push_i, .beat_i, .pop_i, .beat_o(beat), .count_o(count)
    );

    // Beats are numbered as they come and as they leave. Four bits of the numbers tell those apart that are inside.
    logic             first_q = 1'b1;
    logic [3:0]       entered_q;
    logic [3:0]       left_q;
    logic [3:0]       held;
    logic [Width-1:0] beats_q [16];
    always_comb held = entered_q - left_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            entered_q <= '0;
            left_q    <= '0;
        end else if (clear_i) begin
            entered_q <= '0;
            left_q    <= '0;
        end else begin
            if (push_i) entered_q <= entered_q + 1'b1;
            if (pop_i) left_q <= left_q + 1'b1;
        end
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (push_i) beats_q[entered_q] <= beat_i;
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    logic [4:0] write;
    always_comb begin
        write = 5'(u_buffer.read_q) + 5'(held);
        if (write >= 5'(Depth)) write = write - 5'(Depth);
        if (rst_ni && !first_q) begin
            assert (5'(u_buffer.read_q) < 5'(Depth));
            assert (5'(u_buffer.write_q) == write);
        end
    end
    for (genvar place = 0; place < Depth; place++) begin : gen_place
        // The number of the beat at this place, from the oldest on.
        logic [4:0] age;
        always_comb begin
            age = 5'(place) - 5'(u_buffer.read_q);
            if (5'(place) < 5'(u_buffer.read_q)) age = age + 5'(Depth);
            if (rst_ni && !first_q && age < 5'(held)) assert (u_buffer.beats[place] == beats_q[left_q + 4'(age)]);
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        // A push finds room, a pop a beat.
        assume (!push_i || held < 4'(Depth));
        assume (!pop_i || held != '0);
        if (rst_ni && !first_q) begin
            assert (held <= 4'(Depth));
            assert (4'(count) == held);
            if (held != '0) assert (beat == beats_q[left_q]);
        end
    end
endmodule
