import { startScriptedModel, type Script, type ScriptedModel } from '@playhead/scripted-model'
import { onTestFinished } from 'vitest'
import type { CaptureOptions } from '../../src/capture/hooks/install-capture.ts'
import { startRecorder, type Recorder } from './recorder.ts'

/** Which build of a client is used, and whether it is created before the capture is installed. */
export type Variant<Module> = { name: string; load: () => Promise<Module>; isBuiltBefore: boolean }

/** Newest and previous major version, as ES module and CommonJS, created before and after. */
export function variantsOf<Module>(
  builds: Record<string, () => unknown>,
  { isOrderTried = true }: { isOrderTried?: boolean } = {},
): Variant<Module>[] {
  const orders = isOrderTried ? [true, false] : [false]
  return Object.entries(builds).flatMap(([name, load]) =>
    orders.map((isBuiltBefore) => ({
      name: isOrderTried ? `${name}, built ${isBuiltBefore ? 'before' : 'after'}` : name,
      load: async () => (await load()) as Module,
      isBuiltBefore,
    })),
  )
}

export type Scene<Client> = { client: Client; model: ScriptedModel; recorder: Recorder }

/** Starts a model, a client for it and the capture, all of which end with the test. */
export async function setScene<Client>(
  script: Script,
  build: (url: string) => Client | Promise<Client>,
  {
    isBuiltBefore = false,
    capture = {},
  }: { isBuiltBefore?: boolean; capture?: Partial<CaptureOptions> } = {},
): Promise<Scene<Client>> {
  const model = await startModel(script)
  let client = isBuiltBefore ? await build(model.url) : undefined
  const recorder = startRecorder(capture)
  onTestFinished(() => recorder.uninstall())
  client ??= await build(model.url)
  return { client, model, recorder }
}

export async function startModel(script: Script = []): Promise<ScriptedModel> {
  const model = await startScriptedModel(script)
  onTestFinished(() => model.stop())
  return model
}

/** A text that is easy to split wrongly: characters of one to four bytes, and one of several code points. */
export const tornText = 'Grüße ✓ 你好 👩‍🚀 – done.'
