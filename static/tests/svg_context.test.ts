import { describe, expect, it } from 'vitest';
import { escapeXml, SvgContext } from '../src/paint/svg_context';

const ruler = { font: '', measureText: (text: string) => ({ width: text.length * 7 }) };

describe('a picture as SVG', () => {
  it('draws what a canvas would: fills, lines, text, clipping', () => {
    const context = new SvgContext(ruler);
    context.fillStyle = '#abc';
    context.fillRect(1, 2, 30.123, 4);
    context.save();
    context.beginPath();
    context.roundRect(0, 0, 10, 10, 3);
    context.clip();
    context.textAlign = 'right';
    context.fillText('mlp', 5, 6);
    context.restore();
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(0, 0);
    context.lineTo(5, 5);
    context.stroke();
    const text = context.document(100, 50, '#fff');
    expect(text).toContain('<rect x="1" y="2" width="30.12" height="4" fill="#abc"/>');
    expect(text).toMatch(/<text [^>]*text-anchor="end"[^>]*clip-path="url\(#clip0\)">mlp<\/text>/);
    expect(text).toContain('stroke-dasharray="2 3"');
    expect(text.indexOf('clip-path="url(#clip0)"', text.indexOf('stroke-dasharray'))).toBe(-1);
  });

  it('never lets a name become markup', () => {
    expect(escapeXml('<img src=x onerror="a()">&\u0001\ud800')).toBe('&lt;img src=x onerror=&quot;a()&quot;&gt;&amp;\ufffd\ufffd');
    const context = new SvgContext(ruler);
    context.fillText('</text><script>', 0, 0);
    expect(context.document(1, 1, '#fff')).not.toContain('<script>');
    expect(escapeXml('😀层')).toBe('😀层');
  });
});
