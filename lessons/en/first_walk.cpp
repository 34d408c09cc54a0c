// Lesson "first_walk", English.
#include "lessons/texts.h"

namespace flashstep {

const std::string_view kFirstWalkEn = R"LESSON(# FlashAttention-2, step by step

Attention is $O = \mathrm{softmax}(\tau Q K^\top) V$. Here four queries meet four keys, $N = 4$, $d = 3$, and $\tau = 1$, so that you can check every number by hand.

The matrices live in **HBM**, the large memory of the GPU. Arithmetic happens on chip, in **SRAM**, which holds only tiles: $B_r = 2$ rows of $Q$ and $B_c = 2$ rows of $K$ and $V$ at a time. Press the right arrow key to run one line of the paper's Algorithm 1.

## What the chip remembers

A softmax needs the whole row of scores, but a tile shows only a part of it. So for every row of a query block three things are kept while the key blocks pass by:

- $m_i$, the largest score so far. It starts at $-\infty$.
- $\ell_i$, the sum of $e^{s - m_i}$ over the scores $s$ so far.
- $\tilde{O}_i$, the rows of $V$ summed with the same weights, not divided yet.

## The first tile

Go to [i = 1, j = 1](tile:1,1). Rows 1 and 2 meet keys 1 and 2. Row 1 scores {{S_ij[1,1]@i=1,j=1}} and {{S_ij[1,2]@i=1,j=1}}, row 2 scores {{S_ij[2,1]@i=1,j=1}} and {{S_ij[2,2]@i=1,j=1}}. Nothing came before, so $m_i$ is the maximum of each row: {{m_i[1]@i=1,j=1}} and {{m_i[2]@i=1,j=1}}. After [line 10](step:8) $\ell_i$ is {{l_i[1]@i=1,j=1}} and {{l_i[2]@i=1,j=1}}.

## The second tile: two rows, two cases

Go to [i = 1, j = 2](tile:1,2). The same rows meet keys 3 and 4.

**Row 1 keeps its maximum.** The new scores {{S_ij[1,1]@i=1,j=2}} and {{S_ij[1,2]@i=1,j=2}} stay below $m_i$ = {{m_i[1]@i=1,j=2}}. What was kept is still measured against the right maximum: the factor $e^{m_{old} - m_i}$ is {{exp(m_old[1] - m_i[1])@i=1,j=2}}, and the new terms are simply added. $\ell_i$ goes from {{l_i[1]@i=1,j=1}} to {{l_i[1]@i=1,j=2}}.

**Row 2 raises it.** The score {{S_ij[2,1]@i=1,j=2}} is larger than the old maximum {{m_old[2]@i=1,j=2}}. Everything kept so far was measured against the old maximum, so it shrinks by $e^{m_{old} - m_i}$ = {{exp(m_old[2] - m_i[2])@i=1,j=2}} before the new terms are added. $\ell_i$ goes from {{l_i[2]@i=1,j=1}} to {{l_i[2]@i=1,j=2}}, and the first number of $\tilde{O}_i$ from {{O_i[2,1]@i=1,j=1}} to {{O_i[2,1]@i=1,j=2}}.

> In query block 2 the roles change. Before you step on: which of rows 3 and 4 will rescale at $j = 2$? Then look at [i = 2, j = 2](tile:2,2).

Click any cell to see its formula with numbers.

## Divide once

After the last tile, [line 12](line:12) divides by $\ell_i$: $O_i = \mathrm{diag}(\ell_i)^{-1} \tilde{O}_i$. The first row of $O$ is ({{O[1,1]}}, {{O[1,2]}}, {{O[1,3]}}), exactly what softmax over the whole row gives. [Line 13](line:13) keeps $L_i = m_i + \log \ell_i$, one number per row, with which the backward pass can rebuild any probability.

## What moved

$S$ and $P$ never reach HBM. This walk moves {{bytes:all}} bytes; standard attention, which writes and reads both, moves {{bytes:standard}}. $K$ and $V$ are loaded again for every query block, {{bytes:K}} bytes of $K$ in all. With four rows the difference is small. It grows with $N^2$: choose the preset n64 and compare again.

## A misprint worth knowing

Line 10 of the paper prints the factor as $\mathrm{diag}(e^{m_{old} - m_i})^{-1}$. The inverse does not belong there. On the first tile $m_{old} = -\infty$, the factor is 0, and its inverse times a zero $\tilde{O}_i$ is not a number. Kernels multiply by the factor itself, and so does the pseudo-code here.

## Checked, not drawn

Beside the mirror's values the comparison panel shows what the CUDA kernel computed on the same inputs, tile by tile. The badge in the top bar says where it ran and by how much the two differ.
)LESSON";

}  // namespace flashstep
