// The array `{{ array }}` with the registers of all its tracks on ports, for the regression.
module probed_array (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic flush_i,
    input  logic stall_i,
    input  logic config_write_i,
    input  logic config_read_i,
    input  logic [31:0] config_address_i,
    input  logic [31:0] config_write_data_i,
{%- for column in columns %}
    input  logic [{{ word_bits - 1 }}:0] data_{{ column }}_i,
    input  logic bit_{{ column }}_i,
    input  logic valid_{{ column }}_i,
    input  logic ready_{{ column }}_i,
    output logic [{{ word_bits - 1 }}:0] data_{{ column }}_o,
    output logic bit_{{ column }}_o,
    output logic valid_{{ column }}_o,
    output logic ready_{{ column }}_o,
{%- endfor %}
{%- for probe in probes %}
    output logic [63:0] probe_{{ loop.index0 }}_o,
{%- endfor %}
{%- for _ in gates %}
    output logic [63:0] gates_{{ loop.index0 }}_o,
{%- endfor %}
    output logic config_error_o,
    output logic [31:0] config_read_data_o
);
{%- for (port, width) in ports %}
    logic [{{ columns.len() as u32 * width - 1 }}:0] {{ port }}_in, {{ port }}_out;
{%- for column in columns %}
    assign {{ port }}_in[{{ column * width }} +: {{ width }}] = {{ port }}_{{ column }}_i;
    assign {{ port }}_{{ column }}_o = {{ port }}_out[{{ column * width }} +: {{ width }}];
{%- endfor %}
{%- endfor %}

    {{ array }} u_array (
        .clk_i,
        .rst_ni,
{%- if has_clock_gates %}
        .test_enable_i(1'b0),
{%- endif %}
        .flush_i,
        .stall_i,
        .config_write_i,
        .config_read_i,
        .config_address_i,
        .config_write_data_i,
        .config_read_data_o,
        .config_error_o,
{%- if has_banks %}
        .configuring_i(1'b0),
        .column_write_i('0),
        .column_address_i('0),
        .column_data_i('0),
        .column_refused_o(),
{%- endif %}
        .data_i(data_in),
        .bit_i(bit_in),
        .valid_i(valid_in),
        .ready_o(ready_out),
        .data_o(data_out),
        .bit_o(bit_out),
        .valid_o(valid_out),
        .ready_i(ready_in)
    );
{% for probe in probes %}
    assign probe_{{ loop.index0 }}_o = 64'({{ "{" }}{{ probe.join(", ") }}{{ "}" }});
{%- endfor %}
{%- for gate in gates %}
    assign gates_{{ loop.index0 }}_o = 64'({{ "{" }}{{ gate.join(", ") }}{{ "}" }});
{%- endfor %}
endmodule
