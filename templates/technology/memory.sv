{%- let memory = assembly.memory -%}
{%- let binding = assembly.binding -%}
// Memory of the tile `{{ memory.tile }}`: {{ memory.depth }} rows of {{ memory.width }} bits in
// {{ assembly.macros() }} of the macro {{ binding.name }}.
//
{%- if assembly.columns > 1 %}
// {{ assembly.columns }} macros side by side make a row.
{%- endif %}
{%- if assembly.lanes > 1 %}
// A row of the macro holds {{ assembly.lanes }} rows, in lanes; they are far apart, so that neighbours are in
// different rows.
{%- endif %}
{%- if assembly.banks > 1 %}
// {{ assembly.banks }} banks of {{ binding.depth * assembly.lanes }} rows; only the bank that is meant is selected.
{%- endif %}
// Parameters: those of the model that it stands for, pushmem_sram; the tile gives them the values that they have here.
// Timing: as of that model.
{%- if asserts %}
`include "pushmem_assert.svh"
{% endif %}
module {{ memory.name }} #(
    parameter int unsigned Width      = {{ memory.width }},
    parameter int unsigned Depth      = {{ memory.depth }},
    parameter int unsigned ReadPorts  = {{ memory.reads }},
    parameter int unsigned WritePorts = {{ memory.writes }},
    parameter int unsigned Latency    = {{ memory.latency }}
) (
    input  logic clk_i,
    input  logic enable_i,
    input  logic [{{ memory.writes - 1 }}:0]  write_i,
    input  logic [{{ memory.writes * memory.address_bits() - 1 }}:0] write_address_i,
    input  logic [{{ memory.writes * memory.width - 1 }}:0] write_row_i,
    input  logic [{{ memory.reads - 1 }}:0]  read_i,
    input  logic [{{ memory.reads * memory.address_bits() - 1 }}:0] read_address_i,
    output logic [{{ memory.reads * memory.width - 1 }}:0] read_row_o
);
    if (Width != {{ memory.width }} || Depth != {{ memory.depth }} || ReadPorts != {{ memory.reads }}
        || WritePorts != {{ memory.writes }} || Latency != {{ memory.latency }}) begin : gen_other
        $error("{{ memory.name }}: the tile has a memory of another shape");
    end

{%- for used in assembly.used() %}
{%- let n = used.number %}
    // Port {{ n }} of the macros {{ used.purpose() }}.
{%- if let Some(write) = used.port_use.write %}
    logic port_{{ n }}_write;
    always_comb port_{{ n }}_write = enable_i & write_i[{{ write }}];
    logic {{ crate::technology::range(memory.width) }}port_{{ n }}_row;
    always_comb port_{{ n }}_row = {{ used.row().unwrap_or_default() }};
{%- endif %}
{%- if let Some(read) = used.port_use.read %}
    logic port_{{ n }}_read;
    always_comb port_{{ n }}_read = enable_i & read_i[{{ read }}];
    logic {{ crate::technology::range(assembly.columns * assembly.banks * binding.width) }}port_{{ n }}_out;
{%- endif %}
    logic {{ crate::technology::range(memory.address_bits()) }}port_{{ n }}_address;
    always_comb port_{{ n }}_address = {{ used.address() }};
{%- if assembly.place_bits() > 0 %}
{%- if assembly.lanes > 1 && used.port_use.write.is_some() %}
    logic {{ crate::technology::range(assembly.lane_bits()) }}port_{{ n }}_lane;
    always_comb port_{{ n }}_lane =
        port_{{ n }}_address[{{ assembly.row_bits() + assembly.lane_bits() - 1 }}:{{ assembly.row_bits() }}];
{%- endif %}
{%- if assembly.banks > 1 %}
    logic {{ crate::technology::range(assembly.bank_bits()) }}port_{{ n }}_bank;
    always_comb port_{{ n }}_bank =
        port_{{ n }}_address[{{ memory.address_bits() - 1 }}:{{ memory.address_bits() - assembly.bank_bits() }}];
{%- endif %}
{%- endif %}
{% endfor %}
    for (genvar bank = 0; bank < {{ assembly.banks }}; bank++) begin : gen_bank
        for (genvar column = 0; column < {{ assembly.columns }}; column++) begin : gen_column
{%- for name in assembly.unused_outputs() %}
            logic {{ crate::technology::range(binding.width) }}{{ name }}_unused;
{%- endfor %}
            {{ binding.name }} u_macro (
{%- for (pin, expression) in assembly.connections() %}
                .{{ pin }} ({{ expression }}){% if !loop.last %},{% endif %}
{%- endfor %}
            );
        end
    end
{%- for used in assembly.used() %}
{%- if used.port_use.read.is_some() %}
{%- let n = used.number %}

    // The word that port {{ n }} read.
    logic {{ crate::technology::range(memory.width) }}port_{{ n }}_shown;
{%- if assembly.place_bits() > 0 %}
    logic {{ crate::technology::range(assembly.place_bits()) }}port_{{ n }}_place{% if !used.falling() %}_q{% endif %};
{%- if used.falling() %}
    always_comb port_{{ n }}_place = port_{{ n }}_address[{{ memory.address_bits() - 1 }}:{{ assembly.row_bits() }}];
{%- else %}
    always_ff @(posedge clk_i) begin
        if (port_{{ n }}_read) begin
            port_{{ n }}_place_q <= port_{{ n }}_address[{{ memory.address_bits() - 1 }}:{{ assembly.row_bits() }}];
        end
    end
{%- endif %}
    always_comb begin
        port_{{ n }}_shown = '0;
        for (int place = 0; place < {{ assembly.banks * assembly.lanes }}; place++) begin
            if (port_{{ n }}_place{% if !used.falling() %}_q{% endif %} == {{ assembly.place_bits() }}'(place)) begin
                port_{{ n }}_shown = port_{{ n }}_out[place * {{ memory.width }}+:{{ memory.width }}];
            end
        end
    end
{%- else %}
    always_comb port_{{ n }}_shown = port_{{ n }}_out;
{%- endif %}
    logic {{ crate::technology::range(memory.width) }}port_{{ n }}_kept;
{%- if used.falling() %}
    // The macro reads in the middle of the cycle; a register takes the row at its end.
    logic {{ crate::technology::range(memory.width) }}port_{{ n }}_row_q;
    always_ff @(posedge clk_i) begin
        if (port_{{ n }}_read) begin
            port_{{ n }}_row_q <= port_{{ n }}_shown;
        end
    end
    always_comb port_{{ n }}_kept = port_{{ n }}_row_q;
{%- else if assembly.holds() %}
    always_comb port_{{ n }}_kept = port_{{ n }}_shown;
{%- else %}
    // The macro shows the row for one cycle; a register keeps it for the others.
    logic port_{{ n }}_fresh_q;
    logic {{ crate::technology::range(memory.width) }}port_{{ n }}_row_q;
    always_ff @(posedge clk_i) begin
        port_{{ n }}_fresh_q <= port_{{ n }}_read;
        if (port_{{ n }}_fresh_q) begin
            port_{{ n }}_row_q <= port_{{ n }}_shown;
        end
    end
    always_comb port_{{ n }}_kept = port_{{ n }}_fresh_q ? port_{{ n }}_shown : port_{{ n }}_row_q;
{%- endif %}
{%- if memory.latency == 1 %}
    always_comb {{ used.read_row() }} = port_{{ n }}_kept;
{%- else %}
    logic {{ crate::technology::range(memory.width) }}port_{{ n }}_output_q;
    always_ff @(posedge clk_i) begin
        if (enable_i) begin
            port_{{ n }}_output_q <= port_{{ n }}_kept;
        end
    end
    always_comb {{ used.read_row() }} = port_{{ n }}_output_q;
{%- endif %}
{%- endif %}
{%- endfor %}
{%- if asserts %}

    // The macro does not say what a port reads from a row that another writes.
{%- for writer in assembly.used() %}
{%- for reader in assembly.used() %}
{%- if writer.port_use.write.is_some() && reader.port_use.read.is_some() %}
    `PUSHMEM_ASSERT(a_no_read_of_row_being_written_{{ writer.number }}_{{ reader.number }},
        !(port_{{ writer.number }}_write && port_{{ reader.number }}_read
          && port_{{ writer.number }}_address[{{ assembly.row_bits() - 1 }}:0]
            == port_{{ reader.number }}_address[{{ assembly.row_bits() - 1 }}:0]
{%- if assembly.banks > 1 %}
          && port_{{ writer.number }}_bank == port_{{ reader.number }}_bank
{%- endif %}
        ),
        ("{{ memory.name }}: a row is read while it is written"))
{%- endif %}
{%- endfor %}
{%- endfor %}
{%- endif %}
endmodule
