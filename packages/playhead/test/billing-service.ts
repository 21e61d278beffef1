import { finish, startProgram } from './run-program.ts'

/** Starts a service in its own process, which records its work. */
export async function startBillingService(
  environment: Record<string, string>,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const service = startProgram('billing-service', { environment })
  const url = await new Promise<string>((resolve) => {
    service.stdout!.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))
  })
  return {
    url,
    async stop() {
      const ended = finish(service)
      service.kill('SIGTERM')
      await ended
    },
  }
}
