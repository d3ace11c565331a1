// Proof of the operand that can be held or accumulate, in any pattern of steps and enables, for every mode that stays. Held, it is
// the word that comes in a cycle with the enable, in others that of the last step with it, as soon as there was one. Accumulated,
// it is the constant, or the result of the last step. All other modes are those of an operand that is held and no more.
module accumulator_proof #(
    parameter int unsigned Width = 2,
    parameter int unsigned Delay = 2,
    localparam int unsigned ModeBits = $clog2(Delay + 4)
) (
    input logic clk_i,
    input logic step_i,
    input logic enable_i,
    input logic [ModeBits-1:0] mode_i,
    input logic [Width-1:0]    constant_i,
    input logic [Width-1:0]    data_i,
    input logic [Width-1:0]    result_i
);
    localparam int unsigned Held = Delay + 2;
    localparam int unsigned Accumulated = Delay + 3;

    logic [Width-1:0] operand;
    logic [Width-1:0] held_operand;
    pushmem_accumulator #(.Width(Width), .Delay(Delay), .ModeBits(ModeBits)) u_accumulator (
        .clk_i, .step_i, .mode_i, .enable_i, .constant_i, .data_i, .result_i, .operand_o(operand)
    );
    pushmem_held_operand #(.Width(Width), .Delay(Delay), .ModeBits(ModeBits)) u_held_operand (
        .clk_i, .step_i, .mode_i, .enable_i, .constant_i, .data_i, .operand_o(held_operand)
    );

    // The word of the first register, and whether it has been loaded with this mode; the words of the last steps, the newest first.
    logic                      first_q = 1'b1;
    logic [ModeBits-1:0]       mode_q;
    logic                      loaded_q;
    logic [Width-1:0]          last_q;
    logic [Delay:0]            known_q;
    logic [Delay:0][Width-1:0] words_q;
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        mode_q  <= mode_i;
        if (first_q) begin
            loaded_q <= 1'b0;
            known_q  <= '0;
        end else if (step_i) begin
            if (32'(mode_i) == Accumulated || enable_i) loaded_q <= 1'b1;
            known_q <= (Delay + 1)'({known_q, 1'b1});
        end
        if (step_i && 32'(mode_i) == Accumulated) last_q <= result_i;
        else if (step_i && enable_i) last_q <= data_i;
        if (step_i) words_q <= ((Delay + 1) * Width)'({words_q, data_i});
    end
    always_comb assume (first_q || mode_i == mode_q);

    for (genvar k = 1; k <= Delay; k++) begin : gen_delay
        always_comb begin
            // Registers that the mode needs hold the words of the last steps: this makes the proof inductive.
            if (!first_q && known_q[k-1] && 32'(mode_i) >= k + 1 && 32'(mode_i) < Held) begin
                assert (u_accumulator.u_operand.gen_delay[k-1].data_q == words_q[k-1]);
                assert (u_held_operand.u_operand.gen_delay[k-1].data_q == words_q[k-1]);
            end
            if (!first_q && known_q[k-1] && 32'(mode_i) == k + 1) begin
                assert (operand == words_q[k-1]);
                assert (held_operand == words_q[k-1]);
            end
            if (k > 1 && !first_q && known_q[k-1]) assert (known_q[k-2]);
        end
    end
    always_comb begin
        if (!first_q && loaded_q && (32'(mode_i) == Held || 32'(mode_i) == Accumulated)) begin
            assert (u_accumulator.u_operand.gen_delay[0].data_q == last_q);
            assert (operand == (!enable_i ? last_q : 32'(mode_i) == Held ? data_i : constant_i));
        end
        if (!first_q && loaded_q && 32'(mode_i) == Held) begin
            assert (u_held_operand.u_operand.gen_delay[0].data_q == last_q);
            assert (held_operand == (enable_i ? data_i : last_q));
        end
        if (mode_i == '0) assert (operand == constant_i && held_operand == constant_i);
        if (32'(mode_i) == 1) assert (operand == data_i && held_operand == data_i);
        if (32'(mode_i) > Held) assert (held_operand == '0);
        if (32'(mode_i) > Accumulated) assert (operand == '0);
    end
endmodule
