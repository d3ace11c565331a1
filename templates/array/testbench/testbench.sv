// Testbench of the program `{{ run.program }}` on the array `{{ spec.name }}`, for any simulator that knows delays and
// $readmemh.
//
// It loads the bitstream through the configuration port, starts a run, offers the words of the input streams as long
// as they are taken, and compares each word that leaves. The folder of this file's parent is the working folder.
module {{ module }};
    // Cycles in which nothing is loaded: until commands reach the tiles, and until their answers are back.
    localparam int unsigned BEFORE = {{ before }};
    localparam int unsigned AFTER  = {{ after }};
    localparam int unsigned WRITES = {{ run.bitstream.writes.len() }};
    // Cycles of the run on the model, and those after which a run has failed.
    localparam int unsigned CYCLES = {{ run.cycles }};
    localparam int unsigned LIMIT  = 2 * CYCLES + 1000;

    logic clk = 1'b0;
    logic rst_n = 1'b0;
    always #5 clk = ~clk;

    logic        flush = 1'b0;
    logic        stall = 1'b1;
    logic        config_write = 1'b0;
    logic [31:0] config_address = '0;
    logic [31:0] config_write_data = '0;
    logic [31:0] config_read_data;
    logic        config_error;
{%- if let Some(buffer) = spec.global_buffer %}
    logic [{{ buffer.banks - 1 }}:0] column_refused;
{%- endif %}
    logic [{{ spec.columns * spec.word_bits() - 1 }}:0] data_in;
    logic [{{ spec.columns - 1 }}:0] valid_in;
    logic [{{ spec.columns - 1 }}:0] ready_in;
    logic [{{ spec.columns * spec.word_bits() - 1 }}:0] data_out;
    logic [{{ spec.columns - 1 }}:0] bit_out;
    logic [{{ spec.columns - 1 }}:0] valid_out;
    {{ array }} u_array (
        .clk_i               (clk),
        .rst_ni              (rst_n),
{%- if spec.clock_gating %}
        .test_enable_i       (1'b0),
{%- endif %}
        .flush_i             (flush),
        .stall_i             (stall),
        .config_write_i      (config_write),
        .config_read_i       (1'b0),
        .config_address_i    (config_address),
        .config_write_data_i (config_write_data),
        .config_read_data_o  (config_read_data),
        .config_error_o      (config_error),
{%- if let Some(buffer) = spec.global_buffer %}
        .configuring_i       (1'b0),
        .column_write_i      ('0),
        .column_address_i    ('0),
        .column_data_i       ('0),
        .column_refused_o    (column_refused),
{%- endif %}
        .data_i              (data_in),
        .bit_i               ('0),
        .valid_i             (valid_in),
        .ready_o             (ready_in),
        .data_o              (data_out),
        .bit_o               (bit_out),
        .valid_o             (valid_out),
        .ready_i             ('1)
    );

    logic is_running = 1'b0;

    // The words of the input streams, and how many were taken.
{%- for (number, lane) in run.inputs.iter().enumerate() %}
    logic [{{ spec.word_bits() - 1 }}:0] in_{{ number }} [{{ lane.words }}];
    int unsigned given_{{ number }} = 0;
    initial $readmemh("testbench/in_{{ number }}.hex", in_{{ number }});
    always @(posedge clk) begin
        if (valid_in[{{ lane.column }}] && ready_in[{{ lane.column }}]) given_{{ number }} <= given_{{ number }} + 1;
    end
{%- endfor %}
    always_comb begin
        data_in  = '0;
        valid_in = '0;
{%- for (number, lane) in run.inputs.iter().enumerate() %}
        if (is_running && given_{{ number }} < {{ lane.words }}) begin
            valid_in[{{ lane.column }}] = 1'b1;
            data_in[{{ lane.column * spec.word_bits() }}+:{{ spec.word_bits() }}] = in_{{ number }}[given_{{ number }}];
        end
{%- endfor %}
    end

    // The words that are expected of the output streams, and how many have left.
    int unsigned wrong = 0;
{%- for (number, lane) in run.outputs.iter().enumerate() %}
    logic [{{ spec.word_bits() - 1 }}:0] out_{{ number }} [{{ lane.words }}];
    int unsigned left_{{ number }} = 0;
    initial $readmemh("testbench/out_{{ number }}.expected.hex", out_{{ number }});
    always @(posedge clk) begin
        if (is_running && valid_out[{{ lane.column }}]) begin
            if (left_{{ number }} >= {{ lane.words }}) begin
                $display("out_{{ number }} has more words than {{ lane.words }}");
                wrong <= wrong + 1;
            end else if (
                data_out[{{ lane.column * spec.word_bits() }}+:{{ spec.word_bits() }}]
                    !== out_{{ number }}[left_{{ number }}]
            ) begin
                $display("word %0d of out_{{ number }} is %h, expected %h", left_{{ number }},
                    data_out[{{ lane.column * spec.word_bits() }}+:{{ spec.word_bits() }}],
                        out_{{ number }}[left_{{ number }}]);
                wrong <= wrong + 1;
            end
            left_{{ number }} <= left_{{ number }} + 1;
        end
    end
{%- endfor %}
    logic is_done;
    assign is_done = {% for (number, lane) in run.outputs.iter().enumerate() %}{% if number > 0 %}
        && {% endif %}left_{{ number }} >= {{ lane.words }}{% endfor %};

    // Constants in place of registers answer no write.
    logic is_frozen;
    logic is_refused = 1'b0;
    always @(posedge clk) if (config_error && !is_frozen) is_refused <= 1'b1;

    // Each write: address and data{% if run.in_file
        != run.bitstream.writes.len() %}; those of banks come last, and are left out{% endif %}.
    // Inputs change at falling edges, so that no simulator orders them otherwise.
    logic [31:0] bitstream [2 * {% if run.in_file
        == run.bitstream.writes.len() %}WRITES{% else %}{{ run.in_file }}{% endif %}];
    int unsigned cycles = 0;
    initial begin
        is_frozen = $test$plusargs("frozen") != 0;
        $readmemh("{{ run.program }}.hex", bitstream);
        repeat (4) @(negedge clk);
        rst_n = 1'b1;
        repeat (BEFORE) @(negedge clk);
        for (int unsigned write = 0; write < WRITES; write++) begin
            config_write      = 1'b1;
            config_address    = bitstream[2 * write];
            config_write_data = bitstream[2 * write + 1];
            @(negedge clk);
        end
        config_write = 1'b0;
        repeat (AFTER) @(negedge clk);
        if (is_refused) $fatal(1, "the array refused a write of the bitstream");
        stall      = 1'b0;
        flush      = 1'b1;
        is_running = 1'b1;
        @(negedge clk);
        flush = 1'b0;
        while (!is_done && cycles < LIMIT) begin
            @(negedge clk);
            cycles = cycles + 1;
        end
        if (!is_done) $fatal(1, "not all words have left after %0d cycles", cycles);
        if (wrong > 0) $fatal(1, "%0d words are wrong", wrong);
        $display("{{ run.program }}: {{ words }} words as expected, %0d cycles", cycles);
        $finish;
    end

    // Nothing looks at the bits of the streams, or reads configurations back.
    logic unused;
    assign unused =
        &{1'b0, config_read_data,{% if spec.global_buffer.is_some() %} column_refused,{% endif %} bit_out, ready_in,
            valid_out, data_out};
endmodule
