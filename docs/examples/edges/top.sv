// The accelerator on a board: a test picture that moves, and a checksum of its edges on eight LEDs.
//
// A real camera takes the place of the counters `column`, `row` and `frame`, and whatever shows pictures that of the checksum. Both sides
// of the accelerator are streams: a pixel passes in each cycle in which `valid` and `ready` are high.
module top #(
    parameter int Width  = 64,
    parameter int Height = 48
) (
    input  logic       clk_25mhz,
    input  logic       reset_n,   // a button; low resets
    output logic [7:0] led
);
    // The reset of the accelerator is asynchronous and ends with the clock: two registers see to that.
    logic released, rst_n;
    always_ff @(posedge clk_25mhz or negedge reset_n) begin
        if (!reset_n) released <= 1'b0;
        else released <= 1'b1;
    end
    always_ff @(posedge clk_25mhz or negedge reset_n) begin
        if (!reset_n) rst_n <= 1'b0;
        else rst_n <= released;
    end

    // A square of 16 x 16 pixels, which moves a pixel to the right with each frame.
    logic [5:0] column, row, frame;
    logic       camera_ready, is_last;
    logic [7:0] pixel;
    assign is_last = column == 6'(Width - 1) && row == 6'(Height - 1);
    assign pixel   = (6'(column - frame) < 6'd16 && row >= 6'd16 && row < 6'd32) ? 8'd200 : 8'd20;
    always_ff @(posedge clk_25mhz or negedge rst_n) begin
        if (!rst_n) begin
            column <= '0;
            row    <= '0;
            frame  <= '0;
        end else if (camera_ready) begin
            column <= column == 6'(Width - 1) ? '0 : column + 1'b1;
            if (column == 6'(Width - 1)) row <= row == 6'(Height - 1) ? '0 : row + 1'b1;
            if (is_last) frame <= frame + 1'b1;
        end
    end

    // The accelerator runs again and again: `start_i` stays high, and a run that is asked for begins as soon as one ends.
    logic        busy, done, edges_valid;
    logic [15:0] edges_data;
    edges u_edges (
        .clk_i          (clk_25mhz),
        .rst_ni         (rst_n),
        .start_i        (1'b1),
        .busy_o         (busy),
        .done_o         (done),
        .camera_valid_i (1'b1),
        .camera_ready_o (camera_ready),
        .camera_data_i  ({8'b0, pixel}),
        .edges_valid_o  (edges_valid),
        .edges_ready_i  (1'b1),
        .edges_data_o   (edges_data)
    );

    // The sum of the edges of a frame, in units of 256. A frame has so many words of edges; the last one shows the sum.
    localparam int Words = (Width - 2) * (Height - 2);
    logic [11:0] count;
    logic [15:0] sum, total;
    assign total = sum + {8'b0, edges_data[7:0]};
    always_ff @(posedge clk_25mhz or negedge rst_n) begin
        if (!rst_n) begin
            count <= '0;
            sum   <= '0;
            led   <= '0;
        end else if (edges_valid) begin
            count <= count == 12'(Words - 1) ? '0 : count + 1'b1;
            sum   <= count == 12'(Words - 1) ? '0 : total;
            if (count == 12'(Words - 1)) led <= total[15:8];
        end
    end

    // What a board with one picture does not need.
    logic unused;
    assign unused = ^{busy, done, edges_data[15:8]};
endmodule
