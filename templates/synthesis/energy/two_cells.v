module two_cells (a, y);
  input a;
  output y;
  wire b;
  ONE first (.A(a), .Y(b));
  ONE last (.A(b), .Y(y));
endmodule
