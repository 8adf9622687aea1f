from almanac.cli import main

raise SystemExit(main())
