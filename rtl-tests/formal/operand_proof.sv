// Proof of the operand of a processing element, for every mode that stays: the constant; the word of the same cycle; or that of
// k steps ago, once there were k steps. A mode beyond the longest delay gives 0.
module operand_proof #(
    parameter int unsigned Width = 2,
    parameter int unsigned Delay = 2,
    localparam int unsigned ModeBits = $clog2(Delay + 2)
) (
    input logic clk_i,
    input logic step_i,
    input logic [ModeBits-1:0] mode_i,
    input logic [Width-1:0]    constant_i,
    input logic [Width-1:0]    data_i
);
    logic [Width-1:0] operand;
    pushmem_operand #(.Width(Width), .Delay(Delay)) u_operand (
        .clk_i, .step_i, .mode_i, .constant_i, .data_i, .load_mode_i(mode_i), .load_i(data_i), .operand_o(operand)
    );

    // The words of the last steps, the newest first, and how many there were with this mode.
    logic                          first_q = 1'b1;
    logic [ModeBits-1:0]           mode_q;
    logic [Delay:0]                known_q;
    logic [Delay:0][Width-1:0]     words_q;
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        mode_q  <= mode_i;
        if (first_q) known_q <= '0;
        else if (step_i) known_q <= (Delay + 1)'({known_q, 1'b1});
        if (step_i) words_q <= ((Delay + 1) * Width)'({words_q, data_i});
    end
    always_comb assume (first_q || mode_i == mode_q);

    for (genvar k = 1; k <= Delay; k++) begin : gen_delay
        always_comb begin
            // Registers that the mode needs hold the words of the last steps: this makes the proof inductive.
            if (!first_q && known_q[k-1] && 32'(mode_i) >= k + 1) assert (u_operand.gen_delay[k-1].data_q == words_q[k-1]);
            if (!first_q && known_q[k-1] && 32'(mode_i) == k + 1) assert (operand == words_q[k-1]);
            if (k > 1 && !first_q && known_q[k-1]) assert (known_q[k-2]);
        end
    end
    always_comb begin
        if (mode_i == '0) assert (operand == constant_i);
        if (32'(mode_i) == 1) assert (operand == data_i);
        if (32'(mode_i) > Delay + 1) assert (operand == '0);
    end
endmodule
