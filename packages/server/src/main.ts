#!/usr/bin/env node
import { serve } from './index.ts'

await serve()
