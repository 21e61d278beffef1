import { targets, type Target } from '../harness/targets.ts'

export type MetricName = 'exact' | 'within1' | 'within3' | 'top3' | 'agent'

/** A published data set: its name, what we aim for, and what systems with a language model reach. */
type KnownSet = { name: string; published: string; targets: Partial<Record<MetricName, Target>> }

/** By the names in the data. Other sets are reported without targets. */
export const knownSets: Readonly<Record<string, KnownSet>> = {
  'whowhen, algorithm-generated': {
    name: 'Who&When, algorithm-generated',
    published: 'GPT-4o 12.5 to 25.5, AgenTracer-8B 37.3, FALAT 46.0',
    targets: {
      exact: targets.blameGeneratedExact,
      top3: targets.blameGeneratedTop3,
      agent: targets.blameGeneratedAgent,
    },
  },
  'whowhen, hand-crafted': {
    name: 'Who&When, hand-crafted',
    published: 'GPT-4o 5.3 to 7.0, AgenTracer-8B 20.7, FALAT 29.1',
    targets: { exact: targets.blameCraftedExact, agent: targets.blameCraftedAgent },
  },
  'agentrx, tau-retail': {
    name: 'AgentRx, tau-retail',
    published: 'GPT-5 32.2, AgentRx with GPT-5 54.0',
    targets: { exact: targets.blameRetailExact, within3: targets.blameRetailNear },
  },
  'agentrx, magentic': {
    name: 'AgentRx, Magentic-One',
    published: 'AgentRx with GPT-5 31.8; two teams of people agree in 36',
    targets: {},
  },
}
