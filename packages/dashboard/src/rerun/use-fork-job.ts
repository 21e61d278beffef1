import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { DevSource, ForkJob, Job } from '../api/dev.ts'
import { rerunsKey } from '../api/reruns.ts'

/** A job as far as the page knows. `failed`: it never reached the terminal. */
export type JobProgress = Pick<Job, 'jobId' | 'sessionIds' | 'lines' | 'sentence'> & {
  state: 'sending' | 'failed' | Job['state']
  order: ForkOrder
}

export type ForkOrder = Omit<ForkJob, 'jobId'> & { times: number }

/** Sends a fork to the terminal and follows it. A single run opens beside its parent as soon as it has begun. */
export function useForkJob(dev: DevSource | undefined, isConnected: boolean) {
  const [progress, setProgress] = useState<JobProgress>()
  const client = useQueryClient()
  const navigate = useNavigate()
  const watch = useRef<ReturnType<DevSource['watchJobs']>>(undefined)
  const receive = useEffectEvent((job: Job) => {
    if (progress === undefined || job.jobId !== progress.jobId) return
    const { order } = progress
    setProgress({ ...progress, ...job })
    // Which runs have the edit is known when they are listed.
    if (job.lines.length !== progress.lines.length || job.state === 'finished')
      void client.invalidateQueries({ queryKey: rerunsKey(order.sessionId) })
    const [sessionId] = job.sessionIds
    if (order.times === 1 && sessionId !== undefined)
      void navigate({ to: '/compare', search: { a: order.sessionId, b: sessionId, live: 'true' } })
  })
  const catchUp = useEffectEvent(async () => {
    const { jobs } = await dev!.read()
    for (const job of jobs) receive(job)
  })
  useEffect(() => {
    if (!isConnected || dev === undefined) return
    const started = dev.watchJobs(
      (job) => receive(job),
      () => void catchUp(),
    )
    watch.current = started
    return () => started.stop()
  }, [dev, isConnected])

  const start = async (order: ForkOrder) => {
    const jobId = newJobId()
    setProgress({ jobId, state: 'sending', sessionIds: [], lines: [], order })
    try {
      await watch.current!.opened
      const { state } = await dev!.startJob({ jobId, ...order })
      // Events may have come first.
      setProgress((known) => (known?.state === 'sending' ? { ...known, state } : known))
    } catch (error) {
      setProgress((known) => known && { ...known, state: 'failed', sentence: (error as Error).message })
    }
  }
  const cancel = () => void (progress && dev?.cancelJob(progress.jobId).catch(() => undefined))
  return { progress, start, cancel, clear: () => setProgress(undefined) }
}

/** `crypto.randomUUID` is missing on pages that are served over http from another machine. */
function newJobId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
