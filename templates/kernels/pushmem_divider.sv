// Divider: a new quotient and remainder every cycle, two quotient bits a stage.
//
// Parameters: WIDTH of all operands and results, even; SIGNED for two's complement.
// The remainder is never negative, so that division by a positive number rounds down. Division by 0 gives quotient 0 and
// remainder 0. The quotient wraps: the least number divided by -1 is the least number.
//
// Timing: the results of the operands of a cycle show WIDTH / 2 cycles later, of signed operands 2 more. Only cycles in
// which `step` is high count. There is no reset: before the first operands are through, the results are anything.
module pushmem_divider #(
    parameter int unsigned WIDTH  = 16,
    parameter bit          SIGNED = 1'b0
) (
    input  logic             clk,
    input  logic             step,
    input  logic [WIDTH-1:0] dividend,
    input  logic [WIDTH-1:0] divisor,
    output logic [WIDTH-1:0] quotient,
    output logic [WIDTH-1:0] remainder
);

    localparam int unsigned STAGES = WIDTH / 2;
    // After the last stage only the signs need the divisor.
    localparam int unsigned DIVISORS = SIGNED ? STAGES + 1 : STAGES;

    // What enters each stage, lowest first. A state is the remainder so far and, below it, the bits of the dividend that
    // are still to come, followed by those of the quotient that are known.
    logic [(STAGES+1)*2*WIDTH-1:0] states;
    logic [DIVISORS*WIDTH-1:0]     divisors;

    // One quotient bit: takes the next bit of the dividend to the remainder and the divisor off it, where it fits.
    function automatic logic [2*WIDTH-1:0] next_state(
        input logic [2*WIDTH-1:0] state,
        input logic [WIDTH-1:0]   amount
    );
        logic [WIDTH:0] partial;
        logic [WIDTH:0] rest;
        partial = state[2*WIDTH-1:WIDTH-1];
        rest    = partial - {1'b0, amount};
        if (rest[WIDTH]) begin
            next_state = {partial[WIDTH-1:0], state[WIDTH-2:0], 1'b0};
        end else begin
            next_state = {rest[WIDTH-1:0], state[WIDTH-2:0], 1'b1};
        end
    endfunction

    generate
        for (genvar i = 0; i < STAGES; i++) begin : g_stage
            logic [WIDTH-1:0]   amount;
            logic [2*WIDTH-1:0] after;
            logic [2*WIDTH-1:0] state_q;

            assign amount = divisors[i*WIDTH +: WIDTH];
            assign after  = next_state(next_state(states[i*2*WIDTH +: 2*WIDTH], amount), amount);

            always_ff @(posedge clk) begin
                if (step) begin
                    // By 0 everything fits: the results are set here.
                    state_q <= (i == STAGES - 1 && amount == '0) ? '0 : after;
                end
            end
            assign states[(i+1)*2*WIDTH +: 2*WIDTH] = state_q;
        end

        for (genvar i = 1; i < DIVISORS; i++) begin : g_divisor
            logic [WIDTH-1:0] divisor_q;

            always_ff @(posedge clk) begin
                if (step) begin
                    divisor_q <= divisors[(i-1)*WIDTH +: WIDTH];
                end
            end
            assign divisors[i*WIDTH +: WIDTH] = divisor_q;
        end

        if (SIGNED) begin : g_signed
            // The stages work on magnitudes. The signs go along beside them.
            logic [WIDTH-1:0] dividend_q;
            logic [WIDTH-1:0] divisor_q;
            logic [STAGES:0]  dividend_negative_q;
            logic [STAGES:0]  divisor_negative_q;
            logic [WIDTH-1:0] magnitude;
            logic [WIDTH-1:0] rest;
            logic             negative;
            logic             rounds;
            logic [WIDTH-1:0] quotient_q;
            logic [WIDTH-1:0] remainder_q;

            assign states[2*WIDTH-1:0]  = {{WIDTH{1'b0}}, dividend_q};
            assign divisors[WIDTH-1:0]  = divisor_q;
            assign {rest, magnitude}    = states[STAGES*2*WIDTH +: 2*WIDTH];
            assign negative             = dividend_negative_q[STAGES] ^ divisor_negative_q[STAGES];
            // A negative dividend that does not divide evenly: one more divisor makes the remainder positive.
            assign rounds               = dividend_negative_q[STAGES] && rest != '0;

            always_ff @(posedge clk) begin
                if (step) begin
                    dividend_q          <= dividend[WIDTH-1] ? -dividend : dividend;
                    divisor_q           <= divisor[WIDTH-1] ? -divisor : divisor;
                    dividend_negative_q <= {dividend_negative_q[STAGES-1:0], dividend[WIDTH-1]};
                    divisor_negative_q  <= {divisor_negative_q[STAGES-1:0], divisor[WIDTH-1]};
                    // With -a = ~a + 1, rounding and negating need one addition.
                    quotient_q          <= (negative ? ~magnitude : magnitude) + WIDTH'(negative != rounds);
                    remainder_q         <= rounds ? divisors[STAGES*WIDTH +: WIDTH] - rest : rest;
                end
            end
            assign quotient  = quotient_q;
            assign remainder = remainder_q;
        end else begin : g_unsigned
            assign states[2*WIDTH-1:0]   = {{WIDTH{1'b0}}, dividend};
            assign divisors[WIDTH-1:0]   = divisor;
            assign {remainder, quotient} = states[STAGES*2*WIDTH +: 2*WIDTH];
        end
    endgenerate

endmodule
