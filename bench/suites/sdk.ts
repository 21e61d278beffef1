import { measureSdkCost } from '../../packages/playhead/test/sdk-cost/measure-sdk-cost.ts'
import { measureCapture } from './capture.ts'
import { measureStart } from './sdk-start.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'

/** Measures what recording costs the agent's process, compared with the same work without it. */
export async function runSdkSuite(_options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  progress.show('recording: the same program without recording, with OpenTelemetry and with Playhead')
  const recording = await measureRecording()
  progress.show('start: import and init() in fresh processes')
  const start = await measureStarts()
  progress.show('capture: the same calls with and without it')
  const capture = await measureCaptured()
  return { suite: 'sdk', machine, figures: [...recording, ...start, ...capture] }
}

async function measureRecording(): Promise<Figure[]> {
  const { none, otel, playhead, ratio } = await measureSdkCost()
  return [
    {
      what: 'recording a step: added CPU time',
      figure: playhead.cpuMicroseconds - none.cpuMicroseconds,
      unit: 'µs',
      note: `OpenTelemetry's batch processor and exporter add ${(otel.cpuMicroseconds - none.cpuMicroseconds).toFixed(1)} µs`,
    },
    {
      what: '  relative to OpenTelemetry in the same run',
      figure: ratio,
      unit: '×',
      target: targets.recordingRatio,
    },
    {
      what: '  bytes on the wire',
      figure: playhead.wireBytes,
      unit: 'bytes',
      note: `OpenTelemetry: ${Math.round(otel.wireBytes)}`,
    },
    {
      what: '  heap still held afterwards',
      figure: playhead.heapBytes,
      unit: 'bytes',
      note: `OpenTelemetry: ${otel.heapBytes.toFixed(1)}`,
    },
  ]
}

async function measureStarts(): Promise<Figure[]> {
  const { initMs, initCpuMs, importMs, processes } = await measureStart()
  return [
    {
      what: 'init()',
      figure: initMs,
      unit: 'ms',
      target: targets.init,
      note: `median of ${processes} processes; ${initCpuMs.toFixed(1)} ms of processor time`,
    },
    { what: '  before it, import "playhead" as published', figure: importMs, unit: 'ms' },
  ]
}

async function measureCaptured(): Promise<Figure[]> {
  const figures = await measureCapture()
  return [
    {
      what: 'capturing a call, whole response: added CPU time',
      figure: figures.wholeCallMicroseconds,
      unit: 'µs',
      note: `the call itself takes ${Math.round(figures.bareWholeMicroseconds)} µs`,
    },
    {
      what: `capturing a call, ${figures.streamedEvents} streamed events: added CPU time`,
      figure: figures.streamedCallMicroseconds,
      unit: 'µs',
      note: `the call itself takes ${Math.round(figures.bareStreamedMicroseconds)} µs`,
    },
    {
      what: 'time to first token: added by capture',
      figure: figures.firstTokenAddedPercent,
      unit: '%',
      target: targets.firstTokenAdded,
      note: `${figures.firstTokenBareMs.toFixed(1)} ms without, ${figures.firstTokenCapturedMs.toFixed(1)} ms with`,
    },
    {
      what: '  with a model that responds at once',
      figure: figures.firstTokenAddedMicroseconds,
      unit: 'µs',
    },
  ]
}
