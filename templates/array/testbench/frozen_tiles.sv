// The tiles of array `{{ spec.name }}` that a bitstream uses, and the tracks between them that it uses.
//
// Timing: that of blocks. Commands reach the tiles one cycle later; their answers have a register, too.
module {{ module }} (
    input  logic                       clk_i,
    input  logic                       rst_ni,
{%- if spec.clock_gating %}
    input  logic                       test_enable_i,
{%- endif %}
    input  logic                       flush_i,
    input  logic                       stall_i,
    input  logic                       config_write_i,
    input  logic                       config_read_i,
    input  logic                       config_clear_i,
    input  logic [31:0]                config_address_i,
    input  logic [31:0]                config_write_data_i,
    output logic [31:0]                config_read_data_o,
    output logic                       config_done_o,
    output logic                       request_o,
    input  logic [{{ spec.columns * spec.word_bits() - 1 }}:0] data_i,
    input  logic [{{ spec.columns - 1 }}:0] bit_i,
    input  logic [{{ spec.columns - 1 }}:0] valid_i,
    output logic [{{ spec.columns - 1 }}:0] ready_o,
    output logic [{{ spec.columns * spec.word_bits() - 1 }}:0] data_o,
    output logic [{{ spec.columns - 1 }}:0] bit_o,
    output logic [{{ spec.columns - 1 }}:0] valid_o,
    input  logic [{{ spec.columns - 1 }}:0] ready_i
);
    // The last register on the way of commands to the tiles.
    logic        flush;
    logic        stall_of_array;
    logic        stall;
    logic        write;
    logic        read;
    logic        clear;
    logic [31:0] address;
    logic [31:0] write_data;
    pushmem_control_stage u_control (
        .clk_i               (clk_i),
        .rst_ni              (rst_ni),
        .flush_i             (flush_i),
        .stall_i             (stall_i),
        .config_write_i      (config_write_i),
        .config_read_i       (config_read_i),
        .config_clear_i      (config_clear_i),
        .config_address_i    (config_address_i),
        .config_write_data_i (config_write_data_i),
        .flush_o             (flush),
        .stall_o             (stall_of_array),
        .config_write_o      (write),
        .config_read_o       (read),
        .config_clear_o      (clear),
        .config_address_o    (address),
        .config_write_data_o (write_data)
    );

    // Constants are there from the beginning, a bitstream is not: to the end of the first flush, the tiles hold still.
    logic held_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) held_q <= 1'b1;
        else if (flush) held_q <= 1'b0;
    end
    assign stall = stall_of_array | held_q | ~rst_ni;

    // The requests of the tiles to hold time, and their answers. No column is cleared alone.
    logic        request_q;
    logic        done_q;
    logic [31:0] read_data_q;
{%- for tile in tiles %}
    logic        done_{{ tile.name }};
    logic [31:0] read_data_{{ tile.name }};
{%- if tile.is_io %}
    logic        request_{{ tile.name }};
{%- endif %}
{%- endfor %}
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            request_q   <= 1'b0;
            done_q      <= 1'b0;
            read_data_q <= '0;
        end else begin
            request_q   <= 1'b0{% for tile in tiles %}{% if tile.is_io %}
                | request_{{ tile.name }}{% endif %}{% endfor %};
            done_q      <= 1'b0{% for tile in tiles %} | done_{{ tile.name }}{% endfor %};
            read_data_q <= 32'd0{% for tile in tiles %} | read_data_{{ tile.name }}{% endfor %};
        end
    end
    assign request_o          = request_q;
    assign config_done_o      = done_q;
    assign config_read_data_o = read_data_q;
{%- for column in idle_columns %}
    assign ready_o[{{ column }}] = 1'b0;
    assign valid_o[{{ column }}] = 1'b0;
    assign bit_o[{{ column }}] = 1'b0;
    assign data_o[{{ column * spec.word_bits() }}+:{{ spec.word_bits() }}] = '0;
{%- endfor %}

    // Tracks, named by the tile that they leave.
{%- for (name, width) in nets %}
    logic [{{ width - 1 }}:0] {{ name }};
{%- endfor %}
{% for tile in tiles %}
    {{ tile.module }} u_{{ tile.name }} (
{%- for (port, signal) in tile.connections %}
        .{{ port }} ({{ signal }}){% if !loop.last %},{% endif %}
{%- endfor %}
    );
{%- endfor %}
endmodule
