// Divider: a new quotient and remainder every cycle, some quotient bits a stage.
//
// Parameters: Width of all operands and results; Signed for two's complement; BitsPerStage, the quotient bits of a
// stage, a divisor of Width.
// The remainder is never negative, so that division by a positive number rounds down. Division by 0 gives quotient 0
// and remainder 0. The quotient wraps: the least number divided by -1 is the least number.
//
// Timing: the results of the operands of a cycle show Width / BitsPerStage cycles later, of signed operands 2 more.
// Only cycles in which `step_i` is high count. There is no reset: before the first operands are through, the results
// are anything.
module pushmem_divider #(
    parameter int unsigned Width        = 16,
    parameter bit          Signed       = 1'b0,
    parameter int unsigned BitsPerStage = 2
) (
    input  logic             clk_i,
    input  logic             step_i,
    input  logic [Width-1:0] dividend_i,
    input  logic [Width-1:0] divisor_i,
    output logic [Width-1:0] quotient_o,
    output logic [Width-1:0] remainder_o
);

    localparam int unsigned Stages = Width / BitsPerStage;
    // After the last stage only the signs need the divisor.
    localparam int unsigned Divisors = Signed ? Stages + 1 : Stages;

    // The state that enters each stage, lowest first: the remainder so far and, below it, the bits of the dividend that
    // are still to come, followed by those of the quotient that are known.
    logic [(Stages+1)*2*Width-1:0] states;
    logic [Divisors*Width-1:0]     divisors;

    // One quotient bit: takes the next bit of the dividend to the remainder and the divisor off it, where it fits.
    function automatic logic [2*Width-1:0] next_state(
        input logic [2*Width-1:0] state,
        input logic [Width-1:0]   amount
    );
        logic [Width:0] partial;
        logic [Width:0] rest;
        partial = state[2*Width-1:Width-1];
        rest    = partial - {1'b0, amount};
        if (rest[Width]) begin
            next_state = {partial[Width-1:0], state[Width-2:0], 1'b0};
        end else begin
            next_state = {rest[Width-1:0], state[Width-2:0], 1'b1};
        end
    endfunction

    // The bits of a stage.
    function automatic logic [2*Width-1:0] next_states(
        input logic [2*Width-1:0] state,
        input logic [Width-1:0]   amount
    );
        next_states = state;
        for (int number = 0; number < BitsPerStage; number++) begin
            next_states = next_state(next_states, amount);
        end
    endfunction

    generate
        for (genvar i = 0; i < Stages; i++) begin : gen_stage
            logic [Width-1:0]   amount;
            logic [2*Width-1:0] after;
            logic [2*Width-1:0] state_q;

            assign amount = divisors[i*Width +: Width];
            assign after  = next_states(states[i*2*Width +: 2*Width], amount);

            always_ff @(posedge clk_i) begin
                if (step_i) begin
                    // By 0 everything fits: the results are set here.
                    state_q <= (i == Stages - 1 && amount == '0) ? '0 : after;
                end
            end
            assign states[(i+1)*2*Width +: 2*Width] = state_q;
        end

        for (genvar i = 1; i < Divisors; i++) begin : gen_divisor
            logic [Width-1:0] divisor_q;

            always_ff @(posedge clk_i) begin
                if (step_i) begin
                    divisor_q <= divisors[(i-1)*Width +: Width];
                end
            end
            assign divisors[i*Width +: Width] = divisor_q;
        end

        if (Signed) begin : gen_signed
            // The stages work on magnitudes. The signs go along beside them.
            logic [Width-1:0] dividend_q;
            logic [Width-1:0] divisor_q;
            logic [Stages:0]  dividend_negative_q;
            logic [Stages:0]  divisor_negative_q;
            logic [Width-1:0] magnitude;
            logic [Width-1:0] rest;
            logic             negative;
            logic             rounds;
            logic [Width-1:0] quotient_q;
            logic [Width-1:0] remainder_q;

            assign states[2*Width-1:0] = {{Width{1'b0}}, dividend_q};
            assign divisors[Width-1:0] = divisor_q;
            assign {rest, magnitude}    = states[Stages*2*Width +: 2*Width];
            assign negative             = dividend_negative_q[Stages] ^ divisor_negative_q[Stages];
            // A negative dividend that does not divide evenly: one more divisor makes the remainder positive.
            assign rounds               = dividend_negative_q[Stages] && rest != '0;

            always_ff @(posedge clk_i) begin
                if (step_i) begin
                    dividend_q          <= dividend_i[Width-1] ? -dividend_i : dividend_i;
                    divisor_q           <= divisor_i[Width-1] ? -divisor_i : divisor_i;
                    dividend_negative_q <= {dividend_negative_q[Stages-1:0], dividend_i[Width-1]};
                    divisor_negative_q  <= {divisor_negative_q[Stages-1:0], divisor_i[Width-1]};
                    // With -a = ~a + 1, rounding and negating need one addition.
                    quotient_q          <= (negative ? ~magnitude : magnitude) + Width'(negative != rounds);
                    remainder_q         <= rounds ? divisors[Stages*Width +: Width] - rest : rest;
                end
            end
            assign quotient_o  = quotient_q;
            assign remainder_o = remainder_q;
        end else begin : gen_unsigned
            assign states[2*Width-1:0] = {{Width{1'b0}}, dividend_i};
            assign divisors[Width-1:0] = divisor_i;
            assign {remainder_o, quotient_o} = states[Stages*2*Width +: 2*Width];
        end
    endgenerate

    // Parameters that make no sense end the elaboration.
    if (Width == 0 || BitsPerStage == 0 || Width % BitsPerStage != 0) begin : gen_bad_width
        $error("pushmem_divider: BitsPerStage divides Width");
    end

endmodule
