"""The least that draws eight heads of 256 tokens: raw bytes onto canvases. One button draws other numbers."""

import numpy as np
import streamlit as st

HEADS, TOKENS, WIDTH = 8, 256, 64

DRAW = """
export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".canvases");
  let start = 0;
  data.shapes.forEach(([height, width], n) => {
    const canvas = root.children[n] ?? root.appendChild(document.createElement("canvas"));
    canvas.width = width;
    canvas.height = height;
    const image = new ImageData(width, height);
    for (let i = 0; i < width * height; i++) {
      const grey = 255 - data.bytes[start + i];
      image.data.set([grey, grey, 255, 255], 4 * i);
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    start += width * height;
  });
}
"""
canvases = st.components.v2.component("canvases", html='<div class="canvases"></div>', js=DRAW)

st.session_state.setdefault("changes", 0)
if st.button("Change"):
    st.session_state["changes"] += 1
generator = np.random.default_rng(st.session_state["changes"])
shapes = [(TOKENS, TOKENS)] * HEADS + [(HEADS * WIDTH, HEADS * WIDTH)] * HEADS  # a map a head, a matrix a head
drawn = [generator.integers(0, 256, shape, dtype=np.uint8).tobytes() for shape in shapes]
canvases(data={"bytes": b"".join(drawn), "shapes": shapes}, key="canvases")
