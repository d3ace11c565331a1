    {{ module }}{% if !parameters.is_empty() %} #(
{%- for parameter in parameters %}
        .{{ parameter.port }} ({{ parameter.value }}){% if !loop.last %},{% endif %}
{%- endfor %}
    ){% endif %} {{ name }} (
{%- for port in ports %}
        .{{ port.port }} ({{ port.value }}){% if !loop.last %},{% endif %}
{%- endfor %}
    );
