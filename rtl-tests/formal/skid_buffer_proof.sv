// Proof of the skid buffer, for any claims that find room, whatever comes and goes: the beats that leave are those that came
// Latency cycles after the claims, in their order, each once; there is room whenever fewer than Latency + 2 beats are claimed
// and not gone, so that beats pass at one a cycle; and no output depends on an input of the same cycle: all are those of a
// reference of registers alone.
module skid_buffer_proof #(
    parameter int unsigned Width   = 2,
    parameter int unsigned Latency = 2
) (
    input logic clk_i,
    input logic rst_ni,

    input logic             claim_i,
    input logic [Width-1:0] in_data_i,
    input logic             out_ready_i
);
    localparam int unsigned Depth = Latency + 2;

    logic             ready;
    logic             out_valid;
    logic [Width-1:0] out_data;
    pushmem_skid_buffer #(.Width(Width), .Latency(Latency)) u_buffer (
        .clk_i, .rst_ni, .claim_i, .ready_o(ready), .in_data_i, .out_valid_o(out_valid), .out_ready_i, .out_data_o(out_data)
    );

    // Beats are numbered as they are claimed, as they come and as they leave. Four bits of the numbers tell those apart that
    // are claimed and not gone.
    logic               first_q = 1'b1;
    logic [Latency-1:0] claims_q;
    logic [3:0]         claimed_q;
    logic [3:0]         entered_q;
    logic [3:0]         left_q;
    logic [Width-1:0]   beats_q [16];
    logic [3:0]         claimed;
    logic [3:0]         held;
    always_comb claimed = claimed_q - left_q;
    always_comb held    = entered_q - left_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            claims_q  <= '0;
            claimed_q <= '0;
            entered_q <= '0;
            left_q    <= '0;
        end else begin
            claims_q <= Latency'({claims_q, claim_i});
            if (claim_i) claimed_q <= claimed_q + 1'b1;
            if (claims_q[Latency-1]) entered_q <= entered_q + 1'b1;
            if (out_valid && out_ready_i) left_q <= left_q + 1'b1;
        end
    end
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (claims_q[Latency-1]) beats_q[entered_q] <= in_data_i;
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    logic [3:0] on_way;
    always_comb begin
        on_way = '0;
        for (int age = 0; age < Latency; age++) begin
            on_way = on_way + 4'(claims_q[age]);
        end
    end
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (claimed == held + on_way);
            assert (u_buffer.claimed_q == claimed);
            assert (u_buffer.held_q == held);
            assert (u_buffer.on_way_q == claims_q);
        end
    end
    for (genvar beat = 0; beat < Depth; beat++) begin : gen_beat
        always_comb begin
            if (rst_ni && !first_q && beat < held) assert (u_buffer.beats_q[beat] == beats_q[left_q + 4'(beat)]);
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        // Room is claimed where there is some.
        assume (!claim_i || ready);
        if (!rst_ni) begin
`ifndef SYNCHRONOUS
            assert (first_q || ready && !out_valid);
`endif
        end else if (!first_q) begin
            assert (claimed <= 4'(Depth));
            assert (held <= claimed);
            assert (ready == (claimed < 4'(Depth)));
            assert (out_valid == (held != '0));
            if (out_valid) assert (out_data == beats_q[left_q]);
        end
    end
endmodule
