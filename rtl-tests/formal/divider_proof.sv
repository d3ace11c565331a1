// Proof of the divider, signed and unsigned: in any pattern of steps, its results are the quotient and the remainder of the
// operands that were at its inputs WIDTH / 2 steps ago, of signed ones 2 more: the remainder is from 0 to less than the
// magnitude of the divisor, and both are 0 where the divisor is.
module divider_proof #(
    parameter int unsigned WIDTH  = 4,
    parameter bit          SIGNED = 1'b0
) (
    input logic clk,
    input logic step,

    input logic [WIDTH-1:0] dividend,
    input logic [WIDTH-1:0] divisor
);
    localparam int unsigned STAGES  = WIDTH / 2;
    localparam int unsigned LATENCY = SIGNED ? STAGES + 2 : STAGES;

    logic [WIDTH-1:0] quotient;
    logic [WIDTH-1:0] remainder;
    pushmem_divider #(.WIDTH(WIDTH), .SIGNED(SIGNED)) u_divider (
        .clk, .step, .dividend, .divisor, .quotient, .remainder
    );

    // The operands of the last steps, and how many have come.
    localparam int unsigned BITS = $clog2(LATENCY + 1);
    logic [BITS-1:0]  come_q = '0;
    logic [WIDTH-1:0] dividends_q [LATENCY + 1];
    logic [WIDTH-1:0] divisors_q [LATENCY + 1];
    always_ff @(posedge clk) begin
        if (step) begin
            dividends_q[1] <= dividend;
            divisors_q[1]  <= divisor;
            for (int age = 2; age <= LATENCY; age++) begin
                dividends_q[age] <= dividends_q[age-1];
                divisors_q[age]  <= divisors_q[age-1];
            end
            if (come_q != LATENCY) come_q <= come_q + 1'b1;
        end
    end

    // The magnitude of an operand.
    function automatic logic [WIDTH-1:0] magnitude(input logic [WIDTH-1:0] word);
        magnitude = SIGNED && word[WIDTH-1] ? -word : word;
    endfunction

    // What it should give, in numbers wide enough for both signs.
    logic signed [WIDTH+1:0] numerator;
    logic signed [WIDTH+1:0] denominator;
    logic signed [WIDTH+1:0] size;
    logic signed [WIDTH+1:0] want_quotient;
    logic signed [WIDTH+1:0] want_remainder;
    always_comb begin
        numerator      = {{2{SIGNED && dividends_q[LATENCY][WIDTH-1]}}, dividends_q[LATENCY]};
        denominator    = {{2{SIGNED && divisors_q[LATENCY][WIDTH-1]}}, divisors_q[LATENCY]};
        size           = denominator < 0 ? -denominator : denominator;
        want_quotient  = '0;
        want_remainder = '0;
        if (denominator != 0) begin
            want_remainder = numerator % size;
            if (want_remainder < 0) want_remainder = want_remainder + size;
            want_quotient = (numerator - want_remainder) / denominator;
        end
    end

    // Helping invariants, on what is inside the module, make the proof inductive: behind each stage, the quotient and the
    // remainder of as many upper bits of the dividend as have been looked at. They are proved with the rest.
    for (genvar i = 0; i < STAGES; i++) begin : g_stage
        localparam int unsigned AGE  = SIGNED ? i + 2 : i + 1;
        localparam int unsigned SEEN = 2 * (i + 1);
        always_comb begin
            automatic logic [WIDTH-1:0] top    = magnitude(dividends_q[AGE]) >> (WIDTH - SEEN);
            automatic logic [WIDTH-1:0] amount = magnitude(divisors_q[AGE]);
            automatic logic [WIDTH-1:0] unseen = magnitude(dividends_q[AGE]) << SEEN;
            if (come_q >= AGE && amount != '0) begin
                assert (u_divider.g_stage[i].state_q == {top % amount, unseen | top / amount});
            end
            if (come_q >= AGE && amount == '0 && i == STAGES - 1) assert (u_divider.g_stage[i].state_q == '0);
        end
    end
    for (genvar i = 1; i < (SIGNED ? STAGES + 1 : STAGES); i++) begin : g_divisor
        localparam int unsigned AGE = SIGNED ? i + 1 : i;
        always_comb begin
            if (come_q >= AGE) assert (u_divider.g_divisor[i].divisor_q == magnitude(divisors_q[AGE]));
        end
    end
    if (SIGNED) begin : g_signed
        always_comb begin
            if (come_q >= 1) begin
                assert (u_divider.g_signed.dividend_q == magnitude(dividends_q[1]));
                assert (u_divider.g_signed.divisor_q == magnitude(divisors_q[1]));
            end
            for (int age = 1; age <= STAGES + 1; age++) begin
                if (come_q >= age) begin
                    assert (u_divider.g_signed.dividend_negative_q[age-1] == dividends_q[age][WIDTH-1]);
                    assert (u_divider.g_signed.divisor_negative_q[age-1] == divisors_q[age][WIDTH-1]);
                end
            end
        end
    end

    always_comb begin
        if (come_q == LATENCY) begin
            assert (quotient == WIDTH'(want_quotient));
            assert (remainder == WIDTH'(want_remainder));
        end
    end
endmodule
