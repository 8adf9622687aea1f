from parcelgrid.cli import main

raise SystemExit(main())
