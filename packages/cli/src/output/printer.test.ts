import { describe, expect, it } from '@jest/globals';
import { collectOutput, testIo } from '../testing/test-io.ts';
import { createPrinter } from './printer.ts';
import { progressText } from './progress.ts';
import type { Column } from './table.ts';

const columns: Column<{ id: string; state: string }>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'STATE', text: ({ state }) => state },
];
const rows = [{ id: 'whk_1', state: 'enabled' }];
const csi = '\x1b[';

describe('results', () => {
  it('are a table with titles on a terminal, and colours unless NO_COLOR asks for none', () => {
    const coloured = collectOutput({ isTTY: true });
    createPrinter(testIo({ stdout: coloured }), false).list(rows, columns, 'none');
    expect(coloured.text()).toBe(`${csi}1mID   ${csi}22m  ${csi}1mSTATE  ${csi}22m\nwhk_1  enabled\n`);

    const plain = collectOutput({ isTTY: true });
    createPrinter(testIo({ stdout: plain, env: { NO_COLOR: '1' } }), false).list(rows, columns, 'none');
    expect(plain.text()).toBe('ID     STATE\nwhk_1  enabled\n');
  });

  it('are lines with tabs and without colours in a pipe, and nothing when there is nothing', () => {
    const piped = collectOutput();
    const printer = createPrinter(testIo({ stdout: piped }), false);
    printer.list(rows, columns, 'none');
    printer.list([], columns, 'none');
    expect(piped.text()).toBe('whk_1\tenabled\n');
  });

  it('of a report have titles in a pipe too, and say so where a table is empty', () => {
    const piped = collectOutput();
    const printer = createPrinter(testIo({ stdout: piped }), false);
    printer.section('Webhooks', rows, columns);
    printer.section('Queues', [], columns);
    expect(piped.text()).toBe('\nWebhooks\nID     STATE\nwhk_1  enabled\n\nQueues\nnone\n');
  });

  it('are JSON with --json: an array for a list, an object for one, a line for each of a tail', () => {
    const output = collectOutput({ isTTY: true });
    const printer = createPrinter(testIo({ stdout: output }), true);
    printer.list(rows, columns, 'none');
    printer.object({ id: 'whk_2' }, [['id', 'whk_2']]);
    printer.text('for people');
    const [list, object] = output.text().split('\n{\n');
    expect(JSON.parse(list ?? '')).toEqual(rows);
    expect(JSON.parse(`{${object}`)).toEqual({ id: 'whk_2' });
    printer.record({ id: 'dlv_1', data: { text: 'a\nb' } }, () => 'for people');
    expect(output.text().trimEnd().split('\n').at(-1)).toBe('{"id":"dlv_1","data":{"text":"a\\nb"}}');
    expect(output.text()).not.toContain('for people');
  });

  it('of an object leave out what is undefined, and cannot steer the terminal', () => {
    const output = collectOutput({ isTTY: true });
    createPrinter(testIo({ stdout: output, env: { NO_COLOR: '1' } }), false).object({}, [
      ['name', 'evil\x1b[2J'],
      ['description', undefined],
    ]);
    expect(output.text()).toBe('name  evil\\u001b[2J\n');
  });
});

describe('progress', () => {
  it('is a line on a terminal that is removed at the end, and nothing in a pipe', () => {
    const terminal = collectOutput({ isTTY: true });
    const shown = createPrinter(testIo({ stderr: terminal }), true).progress('Sending');
    shown.update(5, 10);
    shown.end();
    expect(terminal.text()).toContain('50 %  5/10');
    expect(terminal.text().endsWith('\r\x1b[K')).toBe(true);

    const pipe = collectOutput();
    const silent = createPrinter(testIo({ stderr: pipe }), false).progress('Sending');
    silent.update(5, 10);
    silent.end();
    expect(pipe.text()).toBe('');
  });

  it('has a bar when the total is known', () => {
    expect(progressText('Sending', 1, 4)).toBe(`Sending  ${'█'.repeat(6)}${'░'.repeat(18)}  25 %  1/4`);
    expect(progressText('Reading', 300, undefined)).toBe('Reading … 300');
  });
});
