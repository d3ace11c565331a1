// Testbench of the program `{{ run.program }}` on the array `{{ spec.name }}` with its global buffer, for any simulator
// that knows delays and $readmemh.
//
// It writes the bitstream to the banks, which load it, all at a time; with the argument +words it loads the bitstream
// through the configuration port, word by word. Then it writes the images to the banks, starts a run, and compares
// the images that the banks have stored. The folder of this file's parent is the working folder.
module {{ module }};
    // Writes of the bitstream, and those of them that come first through the configuration port; rows of the
    // bitstream in the banks.
    localparam int unsigned WRITES = {{ run.bitstream.writes.len() }};
    localparam int unsigned FIRST  = {{ banked.first.len() }};
    localparam int unsigned BITSTREAM_ROWS = {{ banked.rows().count() }};
    // Rows of the images that are loaded, and of those that are stored.
    localparam int unsigned LOADED = {{ run.loaded }};
    localparam int unsigned STORED = {{ run.stored }};
    // Cycles to the answers of the configuration port and of the host's.
    localparam int unsigned ANSWER      = {{ self::answer_latency(spec) }};
    localparam int unsigned HOST_ANSWER = {{ HOST_LATENCY }};
    // Cycles in which nothing is loaded: until commands reach the tiles, and until their answers are back.
    localparam int unsigned BEFORE = {{ before }};
    localparam int unsigned AFTER  = {{ after }};
    // Cycles of the run on the model, and those after which a run has failed.
    localparam int unsigned CYCLES = {{ run.cycles }};
    localparam int unsigned LIMIT  = 2 * CYCLES + 1000;
    // The registers of all banks with which a bitstream is begun and that tell how far it is; the row at which it
    // begins, and the status at its end.
    localparam logic [31:0] CONFIGURATION        = 32'h{{ "{:08x}"|format(*configuration) }};
    localparam logic [31:0] CONFIGURATION_STATUS = 32'h{{ "{:08x}"|format(*configuration_status) }};
    localparam logic [31:0] CONFIGURATION_ROW    = 32'd{{ configuration_row }};
    localparam logic [31:0] CONFIGURATION_DONE   = 32'd{{ configuration_done }};

    logic clk = 1'b0;
    logic rst_n = 1'b0;
    always #5 clk = ~clk;

    logic        flush = 1'b0;
    logic        stall = 1'b1;
    logic [{{ banks - 1 }}:0] busy;
    logic        configuring;
    logic        config_write = 1'b0;
    logic        config_read = 1'b0;
    logic [31:0] config_address = '0;
    logic [31:0] config_write_data = '0;
    logic [31:0] config_read_data;
    logic        config_error;
    logic [{{ spec.words_per_row() - 1 }}:0] host_write = '0;
    logic        host_read = 1'b0;
    logic [31:0] host_address = '0;
    logic [63:0] host_write_data = '0;
    logic [63:0] host_read_data;
    logic        host_error;
    {{ self::with_global_buffer_module(spec) }} u_array (
        .clk_i               (clk),
        .rst_ni              (rst_n),
{%- if spec.clock_gating %}
        .test_enable_i       (1'b0),
{%- endif %}
        .flush_i             (flush),
        .stall_i             (stall),
        .busy_o              (busy),
        .configuring_o       (configuring),
        .config_write_i      (config_write),
        .config_read_i       (config_read),
        .config_address_i    (config_address),
        .config_write_data_i (config_write_data),
        .config_read_data_o  (config_read_data),
        .config_error_o      (config_error),
        .host_write_i        (host_write),
        .host_read_i         (host_read),
        .host_address_i      (host_address),
        .host_write_data_i   (host_write_data),
        .host_read_data_o    (host_read_data),
        .host_error_o        (host_error)
    );

    // Inputs change at falling edges, so that no simulator orders them otherwise.
    task automatic write_register(input logic [31:0] address, input logic [31:0] data);
        config_write      = 1'b1;
        config_address    = address;
        config_write_data = data;
        @(negedge clk);
        config_write = 1'b0;
    endtask

    task automatic write_row(input logic [31:0] address, input logic [{{ spec.words_per_row() - 1
        }}:0] which, input logic [63:0] row);
        host_write      = which;
        host_address    = address;
        host_write_data = row;
        @(negedge clk);
        host_write = '0;
    endtask

    // No access may be refused.
    logic is_refused = 1'b0;
    always @(posedge clk) if (config_error || host_error) is_refused <= 1'b1;

    // Of the bitstream each write, address and data, and each row, address and row; of the images each row: its
    // address, which of its words, and the row.
    logic [31:0] bitstream [2 * WRITES];
    logic [63:0] bitstream_rows [2 * BITSTREAM_ROWS];
    logic [63:0] loaded [3 * LOADED];
    logic [63:0] stored [3 * STORED];
    logic [63:0] mask;
    int unsigned loading = 0;
    int unsigned cycles = 0;
    int unsigned wrong = 0;
    always @(posedge clk) loading <= loading + 1;
    int unsigned begun;
    initial begin
        $readmemh("{{ run.program }}.hex", bitstream);
        $readmemh("{{ run.program }}_banks.hex", bitstream_rows);
        $readmemh("testbench/loaded.hex", loaded);
        $readmemh("testbench/stored.expected.hex", stored);
        repeat (4) @(negedge clk);
        rst_n = 1'b1;
        repeat (BEFORE) @(negedge clk);
        if ($test$plusargs("words") != 0) begin
            begun = loading;
            for (int unsigned write = 0; write < WRITES; write++) begin
                write_register(bitstream[2 * write], bitstream[2 * write + 1]);
            end
            repeat (ANSWER) @(negedge clk);
            $display("{{ run.program }}: the bitstream was loaded word by word in %0d cycles", loading - begun);
        end else begin
            begun = loading;
            for (int unsigned row = 0; row < BITSTREAM_ROWS; row++) begin
                write_row(bitstream_rows[2 * row][31:0], '1, bitstream_rows[2 * row + 1]);
            end
            $display("{{ run.program }}: the bitstream was written to the banks in %0d cycles", loading - begun);
            begun = loading;
            for (int unsigned write = 0; write < FIRST; write++) begin
                write_register(bitstream[2 * write], bitstream[2 * write + 1]);
            end
            write_register(CONFIGURATION, CONFIGURATION_ROW);
            while (configuring && cycles < LIMIT) begin
                @(negedge clk);
                cycles = cycles + 1;
            end
            $display("{{ run.program }}: the banks loaded the bitstream in %0d cycles", loading - begun);
            config_read    = 1'b1;
            config_address = CONFIGURATION_STATUS;
            @(negedge clk);
            config_read = 1'b0;
            repeat (ANSWER - 1) @(negedge clk);
            if (config_read_data != CONFIGURATION_DONE) begin
                $fatal(1, "the banks have not loaded the bitstream: their status is %h", config_read_data);
            end
        end
        repeat (AFTER) @(negedge clk);
        for (int unsigned row = 0; row < LOADED; row++) begin
            write_row(loaded[3 * row][31:0], loaded[3 * row + 1][{{ spec.words_per_row() - 1 }}:0],
                loaded[3 * row + 2]);
        end
        // Their halves are handed over.
{%- for address in hand_over %}
        write_register(32'h{{ "{:08x}"|format(*address) }}, 32'd1);
{%- endfor %}
        repeat (ANSWER) @(negedge clk);
        if (is_refused) $fatal(1, "an access was refused");
        stall  = 1'b0;
        flush  = 1'b1;
        @(negedge clk);
        flush = 1'b0;
        // Banks are busy from the second cycle on.
        repeat (2) @(negedge clk);
        cycles = 2;
        while (busy != '0 && cycles < LIMIT) begin
            @(negedge clk);
            cycles = cycles + 1;
        end
        if (busy != '0) $fatal(1, "banks %b have words to move after %0d cycles", busy, cycles);
        for (int unsigned row = 0; row < STORED; row++) begin
            host_read    = 1'b1;
            host_address = stored[3 * row][31:0];
            @(negedge clk);
            host_read = 1'b0;
            repeat (HOST_ANSWER - 1) @(negedge clk);
            for (int unsigned word = 0; word < {{ spec.words_per_row() }}; word++) begin
                mask[word * {{ spec.word_bits() }}+:{{ spec.word_bits() }}] =
                    {{ "{" }}{{ spec.word_bits() }}{stored[3 * row + 1][word]}};
            end
            if (((host_read_data ^ stored[3 * row + 2]) & mask) != '0) begin
                $display("row %0h is %h, expected %h in %h", stored[3 * row], host_read_data, stored[3 * row + 2],
                    mask);
                wrong = wrong + 1;
            end
        end
        if (is_refused) $fatal(1, "an access was refused");
        if (wrong > 0) $fatal(1, "%0d rows are wrong", wrong);
        $display("{{ run.program }}: %0d rows as expected, %0d cycles", STORED, cycles);
        $finish;
    end
endmodule
